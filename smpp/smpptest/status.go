package smpptest

import (
	"fmt"
	"strconv"
	"strings"
)

// Statuses that the simulator itself uses (SMPP v3.4 §5.1.3).
const (
	StatusOK         uint32 = 0x00000000
	StatusInvCmdLen  uint32 = 0x00000002
	StatusInvCmdID   uint32 = 0x00000003
	StatusInvBnd     uint32 = 0x00000004
	StatusAlyBnd     uint32 = 0x00000005
	StatusSysErr     uint32 = 0x00000008
	StatusInvPaswd   uint32 = 0x0000000E
	StatusInvSysID   uint32 = 0x0000000F
	StatusCancelFail uint32 = 0x00000011
	StatusReplace    uint32 = 0x00000013
	StatusThrottled  uint32 = 0x00000058
	StatusTAppn      uint32 = 0x00000064
	StatusQueryFail  uint32 = 0x00000067
)

var statusNames = map[uint32]string{
	0x00: "ESME_ROK", 0x01: "ESME_RINVMSGLEN", 0x02: "ESME_RINVCMDLEN", 0x03: "ESME_RINVCMDID",
	0x04: "ESME_RINVBNDSTS", 0x05: "ESME_RALYBND", 0x06: "ESME_RINVPRTFLG", 0x07: "ESME_RINVREGDLVFLG",
	0x08: "ESME_RSYSERR", 0x0A: "ESME_RINVSRCADR", 0x0B: "ESME_RINVDSTADR", 0x0C: "ESME_RINVMSGID",
	0x0D: "ESME_RBINDFAIL", 0x0E: "ESME_RINVPASWD", 0x0F: "ESME_RINVSYSID", 0x11: "ESME_RCANCELFAIL",
	0x13: "ESME_RREPLACEFAIL", 0x14: "ESME_RMSGQFUL", 0x15: "ESME_RINVSERTYP", 0x33: "ESME_RINVNUMDESTS",
	0x34: "ESME_RINVDLNAME", 0x40: "ESME_RINVDESTFLAG", 0x42: "ESME_RINVSUBREP", 0x43: "ESME_RINVESMCLASS",
	0x44: "ESME_RCNTSUBDL", 0x45: "ESME_RSUBMITFAIL", 0x48: "ESME_RINVSRCTON", 0x49: "ESME_RINVSRCNPI",
	0x50: "ESME_RINVDSTTON", 0x51: "ESME_RINVDSTNPI", 0x53: "ESME_RINVSYSTYP", 0x54: "ESME_RINVREPFLAG",
	0x55: "ESME_RINVNUMMSGS", 0x58: "ESME_RTHROTTLED", 0x61: "ESME_RINVSCHED", 0x62: "ESME_RINVEXPIRY",
	0x63: "ESME_RINVDFTMSGID", 0x64: "ESME_RX_T_APPN", 0x65: "ESME_RX_P_APPN", 0x66: "ESME_RX_R_APPN",
	0x67: "ESME_RQUERYFAIL", 0xC0: "ESME_RINVOPTPARSTREAM", 0xC1: "ESME_ROPTPARNOTALLWD",
	0xC2: "ESME_RINVPARLEN", 0xC3: "ESME_RMISSINGOPTPARAM", 0xC4: "ESME_RINVOPTPARAMVAL",
	0xFE: "ESME_RDELIVERYFAILURE", 0xFF: "ESME_RUNKNOWNERR",
}

// StatusName is the spec's name of a command_status, or its number in hex where the spec has none.
func StatusName(status uint32) string {
	if name, ok := statusNames[status]; ok {
		return name
	}
	return fmt.Sprintf("0x%08X", status)
}

// ParseStatus reads a command_status: a name of SMPP v3.4 §5.1.3 in any case, with or without ESME_,
// or a number as Go writes one.
func ParseStatus(s string) (uint32, error) {
	name := strings.ToUpper(s)
	if !strings.HasPrefix(name, "ESME_") {
		name = "ESME_" + name
	}
	for status, n := range statusNames {
		if n == name {
			return status, nil
		}
	}
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		return 0, fmt.Errorf("smpptest: %q is no command_status: a name as ESME_RTHROTTLED or a number as 0x58", s)
	}
	return uint32(n), nil
}

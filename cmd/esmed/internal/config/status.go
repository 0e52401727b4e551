package config

import (
	"fmt"
	"strconv"
	"strings"
)

// CommandStatus is a command_status (SMPP v3.4 §5.1.3), configured by its name (ESME_RINVDSTADR) or, for
// a vendor's own, by its number (0x408).
type CommandStatus uint32

var statusNames = map[string]CommandStatus{
	"ESME_RINVMSGLEN": 0x01, "ESME_RINVCMDLEN": 0x02, "ESME_RINVCMDID": 0x03, "ESME_RINVBNDSTS": 0x04,
	"ESME_RALYBND": 0x05, "ESME_RINVPRTFLG": 0x06, "ESME_RINVREGDLVFLG": 0x07, "ESME_RSYSERR": 0x08,
	"ESME_RINVSRCADR": 0x0A, "ESME_RINVDSTADR": 0x0B, "ESME_RINVMSGID": 0x0C, "ESME_RBINDFAIL": 0x0D,
	"ESME_RINVPASWD": 0x0E, "ESME_RINVSYSID": 0x0F, "ESME_RCANCELFAIL": 0x11, "ESME_RREPLACEFAIL": 0x13,
	"ESME_RMSGQFUL": 0x14, "ESME_RINVSERTYP": 0x15, "ESME_RINVNUMDESTS": 0x33, "ESME_RINVDLNAME": 0x34,
	"ESME_RINVDESTFLAG": 0x40, "ESME_RINVSUBREP": 0x42, "ESME_RINVESMCLASS": 0x43, "ESME_RCNTSUBDL": 0x44,
	"ESME_RSUBMITFAIL": 0x45, "ESME_RINVSRCTON": 0x48, "ESME_RINVSRCNPI": 0x49, "ESME_RINVDSTTON": 0x50,
	"ESME_RINVDSTNPI": 0x51, "ESME_RINVSYSTYP": 0x53, "ESME_RINVREPFLAG": 0x54, "ESME_RINVNUMMSGS": 0x55,
	"ESME_RTHROTTLED": 0x58, "ESME_RINVSCHED": 0x61, "ESME_RINVEXPIRY": 0x62, "ESME_RINVDFTMSGID": 0x63,
	"ESME_RX_T_APPN": 0x64, "ESME_RX_P_APPN": 0x65, "ESME_RX_R_APPN": 0x66, "ESME_RQUERYFAIL": 0x67,
	"ESME_RINVOPTPARSTREAM": 0xC0, "ESME_ROPTPARNOTALLWD": 0xC1, "ESME_RINVPARLEN": 0xC2,
	"ESME_RMISSINGOPTPARAM": 0xC3, "ESME_RINVOPTPARAMVAL": 0xC4, "ESME_RDELIVERYFAILURE": 0xFE,
	"ESME_RUNKNOWNERR": 0xFF,
}

// parseStatus reads a status by name, in any case, or by number. ESME_ROK is no refusal and an error.
func parseStatus(s string) (CommandStatus, error) {
	if v, ok := statusNames[strings.ToUpper(s)]; ok {
		return v, nil
	}
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil || n == 0 || octal(s) {
		return 0, fmt.Errorf("not a status: write a name as ESME_RINVDSTADR or a number as 0x408 (got %q)", s)
	}
	return CommandStatus(n), nil
}

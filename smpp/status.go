package smpp

import (
	"fmt"
	"strconv"
	"strings"
)

// Status is a PDU's command_status (SMPP v3.4 §5.1.3, v5.0 §4.7.6). A constant's name is the
// specification's after ESME_R, in Go case.
type Status uint32

// The statuses of SMPP v3.4.
const (
	StatusOK              Status = 0x00000000
	StatusInvMsgLen       Status = 0x00000001
	StatusInvCmdLen       Status = 0x00000002
	StatusInvCmdID        Status = 0x00000003
	StatusInvBndSts       Status = 0x00000004
	StatusAlyBnd          Status = 0x00000005
	StatusInvPrtFlg       Status = 0x00000006
	StatusInvRegDlvFlg    Status = 0x00000007
	StatusSysErr          Status = 0x00000008
	StatusInvSrcAdr       Status = 0x0000000A
	StatusInvDstAdr       Status = 0x0000000B
	StatusInvMsgID        Status = 0x0000000C
	StatusBindFail        Status = 0x0000000D
	StatusInvPaswd        Status = 0x0000000E
	StatusInvSysID        Status = 0x0000000F
	StatusCancelFail      Status = 0x00000011
	StatusReplaceFail     Status = 0x00000013
	StatusMsgQFul         Status = 0x00000014
	StatusInvSerTyp       Status = 0x00000015
	StatusInvNumDests     Status = 0x00000033
	StatusInvDLName       Status = 0x00000034
	StatusInvDestFlag     Status = 0x00000040
	StatusInvSubRep       Status = 0x00000042
	StatusInvESMClass     Status = 0x00000043
	StatusCntSubDL        Status = 0x00000044
	StatusSubmitFail      Status = 0x00000045
	StatusInvSrcTON       Status = 0x00000048
	StatusInvSrcNPI       Status = 0x00000049
	StatusInvDstTON       Status = 0x00000050
	StatusInvDstNPI       Status = 0x00000051
	StatusInvSysTyp       Status = 0x00000053
	StatusInvRepFlag      Status = 0x00000054
	StatusInvNumMsgs      Status = 0x00000055
	StatusThrottled       Status = 0x00000058
	StatusInvSched        Status = 0x00000061
	StatusInvExpiry       Status = 0x00000062
	StatusInvDftMsgID     Status = 0x00000063
	StatusXTAppn          Status = 0x00000064
	StatusXPAppn          Status = 0x00000065
	StatusXRAppn          Status = 0x00000066
	StatusQueryFail       Status = 0x00000067
	StatusInvOptParStream Status = 0x000000C0
	StatusOptParNotAllwd  Status = 0x000000C1
	StatusInvParLen       Status = 0x000000C2
	StatusMissingOptParam Status = 0x000000C3
	StatusInvOptParamVal  Status = 0x000000C4
	StatusDeliveryFailure Status = 0x000000FE
	StatusUnknownErr      Status = 0x000000FF
)

// The statuses that SMPP v5.0 adds.
const (
	StatusSerTypUnauth      Status = 0x00000100
	StatusProhibited        Status = 0x00000101
	StatusSerTypUnavail     Status = 0x00000102
	StatusSerTypDenied      Status = 0x00000103
	StatusInvDCS            Status = 0x00000104
	StatusInvSrcAddrSubunit Status = 0x00000105
	StatusInvDstAddrSubunit Status = 0x00000106
	StatusInvBcastFreqInt   Status = 0x00000107
	StatusInvBcastAliasName Status = 0x00000108
	StatusInvBcastAreaFmt   Status = 0x00000109
	StatusInvNumBcastAreas  Status = 0x0000010A
	StatusInvBcastCntType   Status = 0x0000010B
	StatusInvBcastMsgClass  Status = 0x0000010C
	StatusBcastFail         Status = 0x0000010D
	StatusBcastQueryFail    Status = 0x0000010E
	StatusBcastCancelFail   Status = 0x0000010F
	StatusInvBcastRep       Status = 0x00000110
	StatusInvBcastSrvGrp    Status = 0x00000111
	StatusInvBcastChanInd   Status = 0x00000112
)

// String is the specification's name, such as ESME_RTHROTTLED, and 0x00000400 for a status that it does
// not define.
func (s Status) String() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return fmt.Sprintf("0x%08X", uint32(s))
}

// Temporary says whether SMPP itself means "try again later": ESME_RTHROTTLED, ESME_RMSGQFUL,
// ESME_RSYSERR and ESME_RX_T_APPN. An operator may know more of them.
func (s Status) Temporary() bool {
	return s == StatusThrottled || s == StatusMsgQFul || s == StatusSysErr || s == StatusXTAppn
}

// AboutSession says whether the status, in answer to a submit_sm, speaks of the bind and not of the
// message: the message is to be kept and the bind made again.
func (s Status) AboutSession() bool {
	return s == StatusInvBndSts || s == StatusAlyBnd || s == StatusBindFail || s == StatusInvPaswd || s == StatusInvSysID
}

// Credentials says whether the status, in answer to a bind, refuses who we say we are. Trying again
// soon will not help, and may lock the account. ESME_RBINDFAIL is one: SMPP v5.0 §4.7.6 gives it for a
// system_id, system_type, password or other attribute that is not valid.
func (s Status) Credentials() bool {
	return s == StatusInvPaswd || s == StatusInvSysID || s == StatusInvSysTyp || s == StatusBindFail
}

// ParseStatus reads a status by its name in SMPP v3.4 or v5.0, in any case, or as a decimal or 0x
// number of 32 bits.
func ParseStatus(text string) (Status, error) {
	for s, name := range statusNames {
		if strings.EqualFold(name, text) {
			return s, nil
		}
	}
	for name, s := range statusAliases {
		if strings.EqualFold(name, text) {
			return s, nil
		}
	}
	n, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		return 0, fmt.Errorf("smpp: %q is neither a command_status of SMPP nor a number", text)
	}
	return Status(n), nil
}

// StatusError is a refusal: the response CommandID with a CommandStatus other than ESME_ROK.
type StatusError struct {
	CommandID     CommandID
	CommandStatus Status
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("smpp: %s: %s", e.CommandID, e.CommandStatus)
}

// Temporary is that of the status.
func (e *StatusError) Temporary() bool { return e.CommandStatus.Temporary() }

var statusNames = map[Status]string{
	StatusOK:                "ESME_ROK",
	StatusInvMsgLen:         "ESME_RINVMSGLEN",
	StatusInvCmdLen:         "ESME_RINVCMDLEN",
	StatusInvCmdID:          "ESME_RINVCMDID",
	StatusInvBndSts:         "ESME_RINVBNDSTS",
	StatusAlyBnd:            "ESME_RALYBND",
	StatusInvPrtFlg:         "ESME_RINVPRTFLG",
	StatusInvRegDlvFlg:      "ESME_RINVREGDLVFLG",
	StatusSysErr:            "ESME_RSYSERR",
	StatusInvSrcAdr:         "ESME_RINVSRCADR",
	StatusInvDstAdr:         "ESME_RINVDSTADR",
	StatusInvMsgID:          "ESME_RINVMSGID",
	StatusBindFail:          "ESME_RBINDFAIL",
	StatusInvPaswd:          "ESME_RINVPASWD",
	StatusInvSysID:          "ESME_RINVSYSID",
	StatusCancelFail:        "ESME_RCANCELFAIL",
	StatusReplaceFail:       "ESME_RREPLACEFAIL",
	StatusMsgQFul:           "ESME_RMSGQFUL",
	StatusInvSerTyp:         "ESME_RINVSERTYP",
	StatusInvNumDests:       "ESME_RINVNUMDESTS",
	StatusInvDLName:         "ESME_RINVDLNAME",
	StatusInvDestFlag:       "ESME_RINVDESTFLAG",
	StatusInvSubRep:         "ESME_RINVSUBREP",
	StatusInvESMClass:       "ESME_RINVESMCLASS",
	StatusCntSubDL:          "ESME_RCNTSUBDL",
	StatusSubmitFail:        "ESME_RSUBMITFAIL",
	StatusInvSrcTON:         "ESME_RINVSRCTON",
	StatusInvSrcNPI:         "ESME_RINVSRCNPI",
	StatusInvDstTON:         "ESME_RINVDSTTON",
	StatusInvDstNPI:         "ESME_RINVDSTNPI",
	StatusInvSysTyp:         "ESME_RINVSYSTYP",
	StatusInvRepFlag:        "ESME_RINVREPFLAG",
	StatusInvNumMsgs:        "ESME_RINVNUMMSGS",
	StatusThrottled:         "ESME_RTHROTTLED",
	StatusInvSched:          "ESME_RINVSCHED",
	StatusInvExpiry:         "ESME_RINVEXPIRY",
	StatusInvDftMsgID:       "ESME_RINVDFTMSGID",
	StatusXTAppn:            "ESME_RX_T_APPN",
	StatusXPAppn:            "ESME_RX_P_APPN",
	StatusXRAppn:            "ESME_RX_R_APPN",
	StatusQueryFail:         "ESME_RQUERYFAIL",
	StatusInvOptParStream:   "ESME_RINVOPTPARSTREAM",
	StatusOptParNotAllwd:    "ESME_ROPTPARNOTALLWD",
	StatusInvParLen:         "ESME_RINVPARLEN",
	StatusMissingOptParam:   "ESME_RMISSINGOPTPARAM",
	StatusInvOptParamVal:    "ESME_RINVOPTPARAMVAL",
	StatusDeliveryFailure:   "ESME_RDELIVERYFAILURE",
	StatusUnknownErr:        "ESME_RUNKNOWNERR",
	StatusSerTypUnauth:      "ESME_RSERTYPUNAUTH",
	StatusProhibited:        "ESME_RPROHIBITED",
	StatusSerTypUnavail:     "ESME_RSERTYPUNAVAIL",
	StatusSerTypDenied:      "ESME_RSERTYPDENIED",
	StatusInvDCS:            "ESME_RINVDCS",
	StatusInvSrcAddrSubunit: "ESME_RINVSRCADDRSUBUNIT",
	StatusInvDstAddrSubunit: "ESME_RINVDSTADDRSUBUNIT",
	StatusInvBcastFreqInt:   "ESME_RINVBCASTFREQINT",
	StatusInvBcastAliasName: "ESME_RINVBCASTALIAS_NAME",
	StatusInvBcastAreaFmt:   "ESME_RINVBCASTAREAFMT",
	StatusInvNumBcastAreas:  "ESME_RINVNUMBCAST_AREAS",
	StatusInvBcastCntType:   "ESME_RINVBCASTCNTTYPE",
	StatusInvBcastMsgClass:  "ESME_RINVBCASTMSGCLASS",
	StatusBcastFail:         "ESME_RBCASTFAIL",
	StatusBcastQueryFail:    "ESME_RBCASTQUERYFAIL",
	StatusBcastCancelFail:   "ESME_RBCASTCANCELFAIL",
	StatusInvBcastRep:       "ESME_RINVBCAST_REP",
	StatusInvBcastSrvGrp:    "ESME_RINVBCASTSRVGRP",
	StatusInvBcastChanInd:   "ESME_RINVBCASTCHANIND",
}

// statusAliases holds the names that v5.0 gave to statuses of v3.4.
var statusAliases = map[string]Status{
	"ESME_RINVTLVSTREAM": StatusInvOptParStream,
	"ESME_RTLVNOTALLWD":  StatusOptParNotAllwd,
	"ESME_RINVTLVLEN":    StatusInvParLen,
	"ESME_RMISSINGTLV":   StatusMissingOptParam,
	"ESME_RINVTLVVAL":    StatusInvOptParamVal,
}

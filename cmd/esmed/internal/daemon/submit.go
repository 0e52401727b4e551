package daemon

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

const (
	version34 = 0x34 // first interface_version with optional parameters (SMPP v3.4 §5.2.4)

	// maxRelative is the longest time written as a relative one: its day field counts to 31, and how long
	// a month is the specification does not say (SMPP v3.4 §7.1.1.2).
	maxRelative = 31 * 24 * time.Hour
)

// submitSM makes the submit_sm of a part (from 1) as it is to be written now. number is its
// sequence_number. The validity_period is what is left of the one asked for; it ends at validUntil, zero
// when none is sent.
func submitSM(cfg *config.SMSC, m *statemachine.MessageAccepted, part int, number uint32, now time.Time) (pdu smpp.SubmitSM, validUntil time.Time) {
	content := &m.Parts[part-1]
	pdu = smpp.SubmitSM{
		Header:               smpp.Header{SequenceNumber: number},
		ServiceType:          m.ServiceType,
		Source:               wireAddress(m.Source),
		Dest:                 wireAddress(m.Dest),
		ESMClass:             content.ESMClass,
		ProtocolID:           m.ProtocolID,
		PriorityFlag:         m.Priority,
		ScheduleDeliveryTime: schedule(m, now),
		RegisteredDelivery:   m.RegisteredDelivery,
		ReplaceIfPresentFlag: m.ReplaceIfPresent,
		DataCoding:           content.DataCoding,
		ShortMessage:         content.ShortMessage,
	}
	if content.NoReceipt {
		pdu.RegisteredDelivery = 0
	}
	if m.ValidityAsked {
		validUntil = m.ValidUntil
		pdu.ValidityPeriod = timeLeft(validUntil, now)
	}
	// A part's own are of the message that was accepted, also where the version was configured lower since.
	pdu.TLVs = appendTLVs(nil, content.TLVs)
	if cfg.InterfaceVersion >= version34 {
		pdu.TLVs = appendReferences(appendTLVs(pdu.TLVs, m.TLVs), cfg, m, part, number)
	}
	if content.Payload {
		pdu.ShortMessage = nil
		pdu.TLVs = append(pdu.TLVs, smpp.TLV{Tag: smpp.TagMessagePayload, Value: content.ShortMessage})
	}
	return pdu, validUntil
}

func wireAddress(a receipt.Address) smpp.Address {
	return smpp.Address{TON: a.TON, NPI: a.NPI, Addr: a.Addr}
}

func appendTLVs(tlvs smpp.TLVs, given []receipt.TLV) smpp.TLVs {
	for _, t := range given {
		tlvs = append(tlvs, smpp.TLV{Tag: smpp.Tag(t.Tag), Value: t.Value})
	}
	return tlvs
}

// appendReferences appends those of ours that the SMSC may echo.
func appendReferences(tlvs smpp.TLVs, cfg *config.SMSC, m *statemachine.MessageAccepted, part int, number uint32) smpp.TLVs {
	if ref := messageReference(cfg, number); ref != 0 {
		tlvs = append(tlvs, smpp.TLV{Tag: smpp.TagUserMessageReference, Value: binary.BigEndian.AppendUint16(nil, ref)})
	}
	if cfg.ClientRefTLV != 0 {
		tlvs = append(tlvs, smpp.TLV{Tag: smpp.Tag(cfg.ClientRefTLV), Value: []byte(clientRef(m.Message, part, len(m.Parts)))})
	}
	return tlvs
}

// messageReference is the user_message_reference of the submit_sm with that sequence_number, 0 = none.
// It only confirms what an id selected, so that coming round after 65,535 submits does no harm.
func messageReference(cfg *config.SMSC, number uint32) uint16 {
	if !cfg.UserMessageReference || cfg.InterfaceVersion < version34 {
		return 0
	}
	return uint16(number%0xFFFF) + 1
}

// clientRef is the reference of ours that an SMSC may echo: our id, and the part where there are several.
func clientRef(id statemachine.ID, part, parts int) string {
	if parts == 1 {
		return string(id)
	}
	return string(id) + "/" + strconv.Itoa(part)
}

// schedule is the schedule_delivery_time to send: as it was given when that names an instant, what is left
// when it counts from now, and none once its time has come, which an SMSC may refuse for good.
func schedule(m *statemachine.MessageAccepted, now time.Time) string {
	switch {
	case m.ScheduleRaw == "" || !m.ScheduledAt.After(now):
		return ""
	case strings.HasSuffix(m.ScheduleRaw, "R"):
		return timeLeft(m.ScheduledAt, now)
	}
	return m.ScheduleRaw
}

// timeLeft writes what is left until until as SMPP time, at least a second: relative, so that it does not
// depend on the SMSC's clock, and absolute where relative time does not reach.
func timeLeft(until, now time.Time) string {
	left := until.Sub(now).Round(time.Second)
	if left > maxRelative {
		return until.UTC().Format("060102150405") + "000+"
	}
	s := max(1, int(left/time.Second))
	return fmt.Sprintf("0000%02d%02d%02d%02d000R", s/86400, s/3600%24, s/60%60, s%60)
}

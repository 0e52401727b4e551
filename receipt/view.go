package receipt

import "encoding/hex"

// Reading is a Receipt as it is printed: the keys of want in the cases of testdata/receipts.
type Reading struct {
	Kind       Kind         `json:"kind"`
	ID         string       `json:"id"`
	TextID     *string      `json:"text_id"` // null when absent or empty
	TLVID      *string      `json:"tlv_id"`  // null when absent or empty
	RawStat    string       `json:"raw_stat"`
	State      MessageState `json:"state"` // DELIVERED, ...; "" when there is none
	Err        string       `json:"err"`
	SubmitDate Date         `json:"submit_date"` // 2024-03-15T12:04:00; "" when there is none
	DoneDate   Date         `json:"done_date"`
	Sub        string       `json:"sub"`
	Dlvrd      string       `json:"dlvrd"`
	Text       string       `json:"text"`
}

// View is a Reading with what was received beside it, as events show a reception's receipt.
type View struct {
	Reading
	ErrWord          string   `json:"err_word,omitempty"` // the rules' word for err; absent when they have none
	MessageState     *int     `json:"message_state"`      // the TLV's octet; null when absent or not of one octet
	NetworkErrorCode *string  `json:"network_error_code"` // the TLV's octets in hex; null when absent
	SubmitDateRaw    string   `json:"submit_date_raw"`
	DoneDateRaw      string   `json:"done_date_raw"`
	Notes            []string `json:"notes"` // never null
}

// Reading gives r as it is printed.
func (r *Receipt) Reading() Reading {
	return Reading{
		Kind: r.Kind, ID: r.ID, TextID: orNull(r.TextID), TLVID: orNull(r.TLVID), RawStat: r.RawStat, State: r.State,
		Err: r.Err, SubmitDate: r.SubmitDate, DoneDate: r.DoneDate, Sub: r.Sub, Dlvrd: r.Dlvrd, Text: r.Text,
	}
}

func orNull(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// View gives r as it is printed with what was received beside it.
func (r *Receipt) View() View {
	v := View{
		Reading: r.Reading(), ErrWord: r.ErrWord, SubmitDateRaw: r.SubmitDateRaw, DoneDateRaw: r.DoneDateRaw,
		Notes: append([]string{}, r.Notes...),
	}
	if len(r.MessageStateRaw) == 1 {
		octet := int(r.MessageStateRaw[0])
		v.MessageState = &octet
	}
	if r.NetworkErrorCode != nil {
		code := hex.EncodeToString(r.NetworkErrorCode)
		v.NetworkErrorCode = &code
	}
	return v
}

package control

// Diagnosis is what was found about how an SMSC writes ids and dates. Counts are of receipts.
type Diagnosis struct {
	SMSC          string        `json:"smsc"`
	Account       string        `json:"account"`
	Receipts      int           `json:"receipts" doc:"Rows of the inbox that were looked at"`
	ReceiptsLeft  int           `json:"receipts_left" doc:"Rows beyond what one diagnosis takes"`
	WithoutID     int           `json:"without_id" doc:"Of receipts: without an id, or with a word for none"`
	Open          int           `json:"open" doc:"Attempts of the account that were given an id and wait for a final report"`
	OpenWithoutID int           `json:"open_without_id" doc:"Attempts that were accepted without one"`
	Controls      int           `json:"controls" doc:"Receipts that were matched before, on which rules are tried too"`
	Today         TriedRules    `json:"today" doc:"The rules in force"`
	Proposals     []TriedRules  `json:"proposals" nullable:"false" doc:"Rules that match more, the best first"`
	TLV           []TriedList   `json:"tlv" nullable:"false" doc:"Each list of rules on receipted_message_id alone, the best first"`
	Text          []TriedList   `json:"text" nullable:"false" doc:"Each list of rules on the text's id alone, the best first"`
	Timezone      DiagnosedZone `json:"timezone"`
	Elsewhere     *OtherAccount `json:"elsewhere" doc:"An account whose open messages the receipts fit under the rules in force"`
	Notes         []string      `json:"notes" nullable:"false"`
}

// Fits counts receipts by what rules make of them.
type Fits struct {
	Unique       int `json:"unique" doc:"Fit exactly one open message"`
	Confirmed    int `json:"confirmed" doc:"Of unique: the addresses agree"`
	None         int `json:"none" doc:"Fit no open message"`
	Several      int `json:"several" doc:"Fit several"`
	Contradicted int `json:"contradicted" doc:"Fit one with another address"`
}

// TriedList is a list of rules, written as in the configuration, tried on one id.
type TriedList struct {
	Rules []string `json:"rules" nullable:"false"`
	Fits
}

// TriedRules are rules for both ids, tried as correlation uses them.
type TriedRules struct {
	TLV     []string `json:"tlv" nullable:"false"`
	Text    []string `json:"text" nullable:"false"`
	Quality string   `json:"quality" enum:"good,thin,doubtful"`
	Fits
	Lost     int                `json:"lost" doc:"Of the controls: would not find their message any more"`
	Config   ConfigLine         `json:"config"`
	Warnings []string           `json:"warnings" nullable:"false"`
	Examples []DiagnosedReceipt `json:"examples" nullable:"false"`
}

// ConfigLine is what to write into the configuration.
type ConfigLine struct {
	Path  string `json:"path" doc:"smscs[NAME].rules.KEY"`
	Value string `json:"value" doc:"In YAML"`
	Line  string `json:"line" doc:"The same as a line below the SMSC's entry"`
}

// DiagnosedReceipt is an example.
type DiagnosedReceipt struct {
	Result    string  `json:"result" enum:"matched,unmatched,ambiguous,address_mismatch"`
	Confirmed bool    `json:"confirmed"`
	Inbox     string  `json:"inbox" doc:"The row's id"`
	TLVID     *string `json:"tlv_id"`
	TextID    *string `json:"text_id"`
	By        string  `json:"by" doc:"Which id fits"`
	Message   string  `json:"message" doc:"The message that it fits"`
	Part      int     `json:"part"`
	Attempt   int     `json:"attempt"`
	MessageID string  `json:"message_id" doc:"The id that the SMSC gave to that attempt"`
}

// DiagnosedZone is what an SMSC's dates say beside our times.
type DiagnosedZone struct {
	Configured string            `json:"configured"`
	Agrees     bool              `json:"agrees" doc:"The dates are in the zone that is configured"`
	Receipts   int               `json:"receipts" doc:"With a date that could be compared"`
	Offsets    []DiagnosedOffset `json:"offsets" nullable:"false" doc:"The best supported first"`
	Config     *ConfigLine       `json:"config"`
}

// DiagnosedOffset is a distance from UTC.
type DiagnosedOffset struct {
	Offset   string `json:"offset" doc:"As +03:00"`
	Receipts int    `json:"receipts"`
}

// OtherAccount counts receipts that fit open messages of another account.
type OtherAccount struct {
	Account  string `json:"account"`
	Receipts int    `json:"receipts"`
}

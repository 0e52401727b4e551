package control

// VerifyProgress says how far a verification has come. Total is 0 while unknown.
type VerifyProgress struct {
	Step  string `json:"step" doc:"What is being compared"`
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// VerifyResult is what a verification found. Difference is null when all agrees.
type VerifyResult struct {
	OK          bool              `json:"ok"`
	Records     uint64            `json:"records"`
	Messages    uint64            `json:"messages"`
	TakenStored uint64            `json:"taken_stored" doc:"Decisions taken as stored: an older parser made them otherwise, or their text is destroyed"`
	Difference  *VerifyDifference `json:"difference"`
}

// VerifyDifference is the first difference.
type VerifyDifference struct {
	File   string `json:"file"`
	Seq    uint64 `json:"seq"`
	Detail string `json:"detail"`
}

// VerifyLine is one line of the answer to POST /v1/verify.
type VerifyLine = WorkLine[VerifyProgress, VerifyResult]

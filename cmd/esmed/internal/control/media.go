package control

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// Media types of the API.
const (
	jsonType   = "application/json"
	ndjsonType = "application/x-ndjson"
	sseType    = "text/event-stream"
)

// What a body may be announced as. One that is not announced is taken as what it has to be.
var (
	messageTypes = []string{jsonType}
	batchTypes   = []string{ndjsonType, "application/ndjson", jsonType}
)

// checkMedia refuses a body that is announced as something else, or as compressed.
func checkMedia(h http.Header, types []string) *Problem {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return newProblem(http.StatusUnsupportedMediaType, "a Content-Encoding is not taken", "send the body as it is")
	}
	announced := h.Get("Content-Type")
	if announced == "" || announced == types[0] { // most, and they need not be taken apart
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(announced)
	if err != nil || !slices.Contains(types, mediaType) {
		return newProblem(http.StatusUnsupportedMediaType, "the Content-Type is not taken here", "send Content-Type: "+strings.Join(types, " or "))
	}
	return nil
}

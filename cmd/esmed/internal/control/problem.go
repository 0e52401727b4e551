package control

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Problem is an error as a problem document (RFC 9457) of the type about:blank. Hint says what to do
// next; Errors lists everything that is wrong with a request, each with its path.
type Problem struct {
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail"`
	Hint   string         `json:"hint,omitempty"`
	Errors []FieldProblem `json:"errors,omitempty"`

	retryAfter time.Duration
}

// FieldProblem is one thing that is wrong with a request.
type FieldProblem struct {
	Path    string `json:"path" doc:"What it is about: to, dest.ton, tlvs[0].hex, query.limit; empty for the whole"`
	Message string `json:"message"`
}

// newProblem makes a problem whose title is the status' own. Without a hint of its own it has the status'.
func newProblem(status int, detail, hint string) *Problem {
	if hint == "" {
		hint = hintFor(status)
	}
	return &Problem{Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}

// hintFor says what to do about a problem that says for itself what is wrong; "" where only the daemon's
// operator can do anything.
func hintFor(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "correct it and try again: GET /openapi.json describes every request"
	case http.StatusUnprocessableEntity:
		return "correct what is listed and try again: GET /openapi.json describes every request"
	case http.StatusNotFound:
		return "take an id that a list gives"
	}
	return ""
}

// Error gives the detail, then the single errors.
func (p *Problem) Error() string {
	parts := make([]string, 0, 1+len(p.Errors))
	if p.Detail != "" {
		parts = append(parts, p.Detail)
	}
	for _, e := range p.Errors {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, "; ")
}

// String gives path and message.
func (f FieldProblem) String() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// GetStatus makes a Problem an error that huma answers with.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are the headers that go with it.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.retryAfter.Round(time.Second)/time.Second)))
	}
	return h
}

// ContentType is the media type of a problem document.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// ProblemError is a Problem that a Client was answered with.
type ProblemError struct {
	Problem
	RetryAfter time.Duration // 0 = the server named none
}

// Error gives the problem's text, else its title.
func (e *ProblemError) Error() string {
	if text := e.Problem.Error(); text != "" {
		return text
	}
	return e.Title
}

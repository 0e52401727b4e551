package control

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"esmed/statemachine"
)

// EvidenceVersion is the version of a bundle's form.
const EvidenceVersion = 1

// Evidence is a bundle for a dispute: it shows what happened to a message to somebody who has no store.
type Evidence struct {
	Version int       `json:"version" doc:"Of this form: 1"`
	Message string    `json:"message" doc:"Its id"`
	State   string    `json:"state"`
	MadeAt  time.Time `json:"made_at"`
	Head    ChainHead `json:"head" doc:"Of the hash chain, where links begin"`
	// Events are the records as GET /v1/messages/{id}/events shows them, with the rules that they were
	// judged by. They follow from records.
	Events  []Event          `json:"events" nullable:"false"`
	Records []EvidenceRecord `json:"records" nullable:"false"`
	Links   []EvidenceLink   `json:"links" nullable:"false" doc:"Commits that lead from the head to the records, newest first"`
}

// ChainHead is an end that the hash chain has or had: the last record of a commit, and its hash.
type ChainHead struct {
	Seq  uint64     `json:"seq"`
	Hash Octets     `json:"hash"`
	At   *time.Time `json:"at,omitempty" doc:"Of that record; not covered by the hash"`
}

// EvidenceRecord is a record as the log has it.
type EvidenceRecord struct {
	Seq      uint64   `json:"seq"`
	Octets   Octets   `json:"octets" doc:"record.proto's Record without its commit field. The chain covers these octets, texts sealed"`
	Texts    []Octets `json:"texts,omitempty" doc:"The sealed texts as they read, in their order. The chain does not cover how they read"`
	TextGone bool     `json:"text_gone,omitempty" doc:"The key of its texts was destroyed"`
	Unproven bool     `json:"unproven,omitempty" doc:"Rules whose record is not in the log any more"`
}

// EvidenceLink is what a commit's hash is made of: SHA-256 of previous, number, seq, skip_seq, skip and
// records_hash; numbers are 8 octets, big-endian. previous is the hash of the commit before, skip that of
// the commit which ends with record skip_seq. The hash of a record is SHA-256 of seq and octets. A commit of
// format 1 has number 0: its hash is SHA-256 of previous and records.
type EvidenceLink struct {
	Number      uint64   `json:"number" doc:"Of the commit"`
	Seq         uint64   `json:"seq" doc:"Of its last record"`
	Previous    Octets   `json:"previous"`
	SkipSeq     uint64   `json:"skip_seq"`
	Skip        Octets   `json:"skip"`
	Records     []Octets `json:"records,omitempty" doc:"Hashes of its records, the last of which is seq; without them:"`
	RecordsHash Octets   `json:"records_hash,omitempty" doc:"SHA-256 of the hashes of its records"`
}

// Octets are octets that are written in hex.
type Octets []byte

// MarshalText gives hex digits.
func (o Octets) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(o)), nil }

// UnmarshalText takes hex digits.
func (o *Octets) UnmarshalText(text []byte) (err error) {
	*o, err = hex.DecodeString(string(text))
	return err
}

// Schema says that they are a string.
func (Octets) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^([0-9a-f]{2})*$", Description: "Hex"}
}

// Proof is what a bundle is made of.
type Proof struct {
	State   statemachine.State
	Head    ChainHead
	Entries []LogEntry // the records, opened
	Records []EvidenceRecord
	Links   []EvidenceLink
}

func (a *API) routeEvidence(api huma.API) {
	register(a, api, get("/v1/messages/{id}/evidence", "evidence", "A bundle that proves what happened to a message"), a.getEvidence)
}

type getEvidenceIn struct {
	ID   string `path:"id"`
	Head uint64 `query:"head" doc:"Seq of a chain head that was kept elsewhere: the links come past it"`
}

func (a *API) getEvidence(ctx context.Context, in *getEvidenceIn) (Evidence, error) {
	p, err := a.cfg.Evidence.Evidence(ctx, statemachine.ID(in.ID), in.Head)
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{
		Version: EvidenceVersion, Message: in.ID, State: p.State.String(), MadeAt: a.cfg.Now().UTC(),
		Head: p.Head, Events: make([]Event, len(p.Entries)), Records: p.Records, Links: p.Links,
	}
	for i := range p.Entries {
		e.Events[i] = a.render.event(p.Entries[i])
	}
	return e, nil
}

// EventOf shows a record as the API does. read and statusName are Config's.
func EventOf(e LogEntry, read ReadReception, statusName func(uint32) string) Event {
	return renderer{statusName: statusName, reception: read}.event(e)
}

// ParseEvidence reads a bundle. Anything that is not one is an error.
func ParseEvidence(data []byte) (Evidence, error) {
	var e Evidence
	err := json.Unmarshal(data, &e)
	switch {
	case err != nil:
		return e, fmt.Errorf("control: evidence: %w", err)
	case e.Version != EvidenceVersion:
		return e, fmt.Errorf("control: evidence: version %d is not %d", e.Version, EvidenceVersion)
	}
	return e, nil
}

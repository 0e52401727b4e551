package command

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"esmed/cmd/esmed/internal/capture"

	"github.com/spf13/cobra"
)

// capture explains a capture: each PDU as it comes, then what became of the messages.
func (f *decodeFlags) capture(cmd *cobra.Command, o output, rules *capture.Rules) error {
	in := cmd.InOrStdin()
	if f.pcap != "-" {
		file, err := os.Open(f.pcap)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	t := &teller{o: o, pdus: !f.summary}
	story, err := capture.Tell(in, rules, t)
	if err != nil {
		return notCapture(err, f.pcap)
	}
	if err := t.finish(story); err != nil {
		return err
	}
	if story.PDUs == 0 {
		return &failure{text: "the capture holds no SMPP", hint: noSMPPHint(&story.Summary)}
	}
	return nil
}

// notCapture tells of a file that cannot be read as a capture.
func notCapture(err error, path string) error {
	hint := "make one with: tcpdump -i any -s 0 -w FILE port 2775"
	if path == "-" {
		hint += "; - is stdin"
	}
	return &failure{text: err.Error(), hint: hint, err: err}
}

// noSMPPHint says why a capture may hold none.
func noSMPPHint(s *capture.Summary) string {
	switch {
	case s.TLS > 0:
		return fmt.Sprintf("%s spoke TLS, which cannot be read: capture behind what ends it", plural(s.TLS, "connection"))
	case s.TCP == 0:
		return fmt.Sprintf("none of its %s is TCP over IP", plural(s.Packets, "packet"))
	}
	return fmt.Sprintf("its %s speak something else", plural(s.Connections, "TCP connection"))
}

// teller prints what a capture tells.
type teller struct {
	o    output
	pdus bool

	any        bool
	rows       [][]string
	strays     [][]string
	unanswered [][]string
	links      [][]string
}

// tableRows is how many messages a table holds at most: a longer list is several.
const tableRows = 5000

// PDU implements capture.Listener.
func (t *teller) PDU(explain func() capture.Explanation) error {
	if !t.pdus {
		return nil
	}
	if t.o.text() && t.any {
		t.o.printf("\n")
	}
	t.any = true
	return t.o.explained(explain())
}

// Message implements capture.Listener.
func (t *teller) Message(r capture.Row) error {
	if !t.o.text() {
		return t.o.object(map[string]capture.Row{"message": r})
	}
	t.rows = append(t.rows, messageCells(&r))
	if len(t.rows) == tableRows {
		t.printMessages()
	}
	return nil
}

// Stray implements capture.Listener.
func (t *teller) Stray(j capture.Judged) error {
	if !t.o.text() {
		return t.o.object(map[string]capture.Judged{"stray": j})
	}
	if len(t.strays) < tableRows {
		t.strays = append(t.strays, []string{
			number(j.PDU), clock(j.At), j.Kind, or(j.ID, "-"), or(cmp.Or(j.RawStat, j.State), "-"), j.Words(),
		})
	}
	return nil
}

// Connection implements capture.Listener.
func (t *teller) Connection(c *capture.Connection) error {
	if !t.o.text() {
		if err := t.o.object(map[string]*capture.Connection{"connection": c}); err != nil {
			return err
		}
	}
	for _, r := range c.Unanswered {
		if err := t.request(r); err != nil {
			return err
		}
	}
	if t.o.text() && len(t.links) < tableRows {
		t.links = append(t.links, []string{
			c.ESME.String(), c.SMSC.String(), number(c.FromESME), number(c.FromSMSC), number(c.Skipped), number(c.Lost), extent(c),
		})
	}
	return nil
}

func (t *teller) request(r capture.Request) error {
	if !t.o.text() {
		return t.o.object(map[string]capture.Request{"unanswered": r})
	}
	by, from := "SMSC", r.ESME
	if !r.FromESME {
		by, from = "ESME", r.SMSC
	}
	if len(t.unanswered) < tableRows {
		t.unanswered = append(t.unanswered, []string{
			number(r.Number), clock(r.At), r.CommandID, strconv.FormatUint(uint64(r.SequenceNumber), 10), from.String(), by,
		})
	}
	return nil
}

// extent says how much of a connection was captured.
func extent(c *capture.Connection) string {
	switch {
	case c.Begun && c.Ended:
		return "from its beginning to its end"
	case c.Begun:
		return "from its beginning"
	case c.Ended:
		return "to its end"
	}
	return "from its middle"
}

func number[N int | uint32](n N) string { return strconv.FormatInt(int64(n), 10) }

// messageCells are a message's row.
func messageCells(r *capture.Row) []string {
	name := number(r.Message)
	if r.Parts > 1 {
		name += fmt.Sprintf(" (%d/%d)", r.Part, r.Parts)
	}
	var at, answer, id string
	answers := make([]string, len(r.Submits))
	for i, s := range r.Submits {
		if answers[i] = "none"; s.Answer != nil {
			answers[i], id = s.Answer.CommandStatus, s.Answer.MessageID
		}
		at = clock(s.At)
	}
	answer = strings.Join(answers, ", ")
	receipts := make([]string, len(r.Receipts))
	for i, j := range r.Receipts {
		receipts[i] = fmt.Sprintf("#%d %s %s", j.PDU, cmp.Or(j.RawStat, j.State, "-"), j.Verdict)
	}
	return []string{name, or(at, "-"), or(r.To, "-"), or(answer, "-"), or(id, "-"), or(strings.Join(receipts, ", "), "-"), or(r.State, "-"), r.Reason}
}

func (t *teller) printMessages() {
	t.o.printf("\nMessages:\n")
	t.o.printTable([]string{"submit", "at", "to", "answer", "message_id", "receipts", "state", "why"}, t.rows)
	t.rows = nil
}

// finish prints what is left, and the sums.
func (t *teller) finish(s *capture.Story) error {
	if !t.o.text() {
		return t.o.object(map[string]*capture.Story{"summary": s})
	}
	if len(t.rows) > 0 {
		t.printMessages()
	}
	for _, table := range []struct {
		title  string
		header []string
		rows   [][]string
		right  []int
	}{
		{"Receipts that found no message", []string{"pdu", "at", "kind", "id", "state", "why"}, t.strays, []int{1}},
		{"Never answered", []string{"pdu", "at", "command_id", "sequence_number", "from", "by"}, t.unanswered, []int{1, 4}},
		{"Connections", []string{"esme", "smsc", "pdus out", "pdus in", "skipped", "lost", "captured"}, t.links, []int{3, 4, 5, 6}},
	} {
		if len(table.rows) > 0 {
			t.o.printf("\n%s:\n", table.title)
			t.o.printTable(table.header, table.rows, table.right...)
		}
	}
	t.o.sums(s)
	return nil
}

// sums prints the counts, and what could not be done.
func (o output) sums(s *capture.Story) {
	if s.PDUs == 0 {
		return
	}
	o.printf("\n%s in %s of %s; %s, %s without one, %s from mobiles\n",
		plural(s.PDUs, "PDU"), plural(s.SMPP, "SMPP connection"), plural(s.Packets, "packet"),
		plural(s.Messages, "message"), plural(s.Strays, "receipt"), plural(s.Inbound, "message"))
	if s.StrayAnswer > 0 {
		o.printf("note: %s to requests that the capture does not hold\n", plural(s.StrayAnswer, "answer"))
	}
	if s.LetGo > 0 {
		o.printf("note: %s told of before the end, for want of room: what came for them later is among the receipts without one\n", plural(s.LetGo, "message"))
	}
	if s.TLS > 0 {
		o.printf("note: %s spoke TLS, which cannot be read\n", plural(s.TLS, "connection"))
	}
	if s.Truncated > 0 {
		o.printf("note: %s captured in part only: capture with -s 0\n", plural(s.Truncated, "packet"))
	}
	if s.Fragments > 0 {
		o.printf("note: %s of IP made %s; what is left of them, or is of IPv6, was not put together\n",
			plural(s.Fragments, "fragment"), plural(s.Joined, "packet"))
	}
	if s.CutShort {
		o.printf("note: the file ends within a packet\n")
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Exceptions)) {
		o.printf("for a person to decide: %s, %d\n", kind, s.Exceptions[kind])
	}
}

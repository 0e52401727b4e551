package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"esmed/smpp/smpptest"
)

// flagGroup is a part of a command's flags that its help shows under a title of its own. The flags
// hang on a command without use, which is cobra's way to have a set of flags.
type flagGroup struct {
	title string
	on    *cobra.Command
}

func group(title string, add func(*cobra.Command)) flagGroup {
	g := flagGroup{title, &cobra.Command{}}
	g.on.Flags().SortFlags = false
	add(g.on)
	return g
}

// addGroups gives a command the flags of all groups and a help that keeps them apart.
func addGroups(c *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		c.Flags().AddFlagSet(g.on.Flags())
	}
	c.SetUsageFunc(func(c *cobra.Command) error {
		out := c.OutOrStdout()
		fmt.Fprintf(out, "Usage:\n  %s\n", c.UseLine())
		if c.HasExample() {
			fmt.Fprintf(out, "\nExamples:\n%s\n", c.Example)
		}
		for _, g := range groups {
			fmt.Fprintf(out, "\n%s:\n%s\n", g.title, strings.TrimRight(g.on.Flags().FlagUsages(), "\n"))
		}
		return nil
	})
}

// simulationFlags are all that a Config can be told.
func simulationFlags(cfg *smpptest.Config) []flagGroup {
	return []flagGroup{
		group("Binds", func(c *cobra.Command) { bindFlags(c, cfg) }),
		group("Message ids", func(c *cobra.Command) { idFlags(c, &cfg.IDs) }),
		group("Answers to submit_sm (shares are of 1)", func(c *cobra.Command) { answerFlags(c, &cfg.Answers) }),
		group("Answers to cancel_sm", func(c *cobra.Command) { cancelFlags(c, cfg) }),
		group("Receipts (shares are of 1)", func(c *cobra.Command) { receiptFlags(c, &cfg.Receipts) }),
		group("Other traffic (shares count per submit_sm)", func(c *cobra.Command) { trafficFlags(c, &cfg.Traffic) }),
		group("Links", func(c *cobra.Command) { linkFlags(c, &cfg.Link) }),
	}
}

func bindFlags(c *cobra.Command, cfg *smpptest.Config) {
	f, b := c.Flags(), &cfg.Bind
	f.StringVar(&cfg.SystemID, "system-id", "", "what a bind must name; any by default")
	f.Var(statusValue{&b.Refuse}, "bind-refuse", "answer binds with this status, as ESME_RBINDFAIL")
	f.IntVar(&b.RefuseFirst, "bind-refuse-first", 0, "refuse only the first n binds; 0: all")
	f.IntVar(&b.IgnoreFirst, "bind-ignore-first", 0, "leave the first n binds unanswered; -1: all")
	f.IntVar(&b.AtMost, "bind-at-most", 0, "refuse further binds of a system_id with ESME_RALYBND; 0: any number may be")
	f.DurationVar(&b.Linger, "bind-linger", 0, "with --bind-at-most, count a bind for so long after its connection broke")
	f.BoolVar(&b.DeliverFirst, "deliver-before-bind-resp", false, "send what waits (or an MO message) before the bind_resp")
}

func idFlags(c *cobra.Command, ids *smpptest.IDs) {
	f := c.Flags()
	forms := make([]string, 0, len(smpptest.IDForms()))
	for _, form := range smpptest.IDForms() {
		forms = append(forms, string(form))
	}
	f.Var(enumValue[smpptest.IDForm]{&ids.Response, "form"}, "id", "form in submit_sm_resp: "+strings.Join(forms, ", ")+"; default hex")
	f.Var(enumValue[smpptest.IDForm]{&ids.TLV, "form"}, "id-tlv", "form in receipted_message_id; default as in the response")
	f.Var(enumValue[smpptest.IDForm]{&ids.Text, "form"}, "id-text", "form in the text of receipts; default as in the response")
	f.Uint64Var(&ids.First, "first-id", 1, "number of the first message")
}

func answerFlags(c *cobra.Command, a *smpptest.Answers) {
	f := c.Flags()
	f.Var(listValue[smpptest.Refusal]{&a.Refuse, parseRefusal, "status=share"}, "refuse", "refuse a share with a status, as ESME_RMSGQFUL=0.02; may be repeated")
	f.IntVar(&a.ThrottleAbove, "throttle-above", 0, "submits a second above which the answer is ESME_RTHROTTLED")
	f.DurationVar(&a.ThrottleAfter, "throttle-after", 0, "time from the start to a storm in which all are answered ESME_RTHROTTLED")
	f.DurationVar(&a.ThrottleFor, "throttle-for", 0, "how long that storm lasts; 0: there is none")
	f.DurationVar(&a.Delay, "answer-delay", 0, "before every answer")
	f.DurationVar(&a.Jitter, "answer-jitter", 0, "up to this more")
	f.Float64Var(&a.Never, "no-answer", 0, "share that is taken on but never answered")
	f.Float64Var(&a.Late, "late-answer", 0, "share that is answered after --late-by")
	f.DurationVar(&a.LateBy, "late-by", 0, "delay of late answers; longer than the ESME's response timeout")
	f.IntVar(&a.Shuffle, "shuffle-answers", 0, "hold answers until there are n (or 20ms have passed) and send them in random order")
}

func cancelFlags(c *cobra.Command, cfg *smpptest.Config) {
	c.Flags().Var(cancelValue{cfg}, "cancel", "answer with this status, ESME_RCANCELFAIL by default; ESME_ROK takes the message back, and a receipt DELETED follows")
}

func receiptFlags(c *cobra.Command, r *smpptest.Receipts) {
	f := c.Flags()
	f.BoolVar(&r.Always, "receipts-always", false, "also where registered_delivery does not ask")
	f.Var(enumValue[smpptest.ReceiptForm]{&r.Form, "form"}, "receipt-form", "text, tlv or both; default both")
	f.Var(listValue[smpptest.StateShare]{&r.States, parseState, "word=share"}, "state", "mix of outcomes, as DELIVRD=0.9,UNDELIV=0.1; an own word may name what it stands for, as FAILED/UNDELIVERABLE=0.1; default all DELIVRD")
	f.DurationVar(&r.Delay, "receipt-delay", 0, "after the answer")
	f.DurationVar(&r.Jitter, "receipt-jitter", 0, "up to this more")
	f.Float64Var(&r.DataSM, "data-sm", 0, "share sent as data_sm")
	f.Float64Var(&r.BeforeResponse, "before-response", 0, "share whose receipt comes before the submit_sm_resp")
	f.Float64Var(&r.Duplicates, "duplicates", 0, "share whose receipt comes again")
	f.IntVar(&r.Copies, "copies", 1, "how often it comes again")
	f.Float64Var(&r.Intermediate, "intermediate", 0, "share with an intermediate notification before the final receipt")
	f.Float64Var(&r.IntermediateAfter, "intermediate-after", 0, "share with one after it")
	f.Float64Var(&r.Contradictions, "contradictions", 0, "share with another final state after it")
	f.Float64Var(&r.Unknown, "unknown-ids", 0, "receipts for ids that were never given, per submit_sm")
	f.Float64Var(&r.BadDates, "bad-dates", 0, "share with dates that nobody can read")
	f.Float64Var(&r.BrokenTLVs, "broken-tlvs", 0, "share with stray octets or a broken TLV at the end")
	f.DurationVar(&r.Retry, "retry", 0, "until what was answered ESME_RX_T_APPN is sent again; default 1s")
	f.Var(tagValue{&r.ClientRefTLV}, "client-ref-tlv", "TLV of the submit_sm that receipts echo, as 0x1401")
}

func trafficFlags(c *cobra.Command, t *smpptest.Traffic) {
	f := c.Flags()
	f.Float64Var(&t.MO, "mo", 0, "mobile-originated messages")
	f.Float64Var(&t.MOLikeReceipt, "mo-like-receipt", 0, "such whose text reads like a receipt")
	f.Float64Var(&t.Garbage, "garbage", 0, "deliver_sm whose body says nothing")
	f.Float64Var(&t.UnknownCommand, "unknown-command", 0, "requests with an unknown command_id")
	f.Float64Var(&t.Oversize, "oversize", 0, "deliver_sm that are too long")
	f.IntVar(&t.OversizeOctets, "oversize-octets", 0, "length of those; default 200000")
	f.DurationVar(&t.EnquireLink, "enquire-link", 0, "between enquire_link of the SMSC; 0: none")
	f.Var(enumValue[smpptest.SequenceMode]{&t.Sequence, "mode"}, "sequence", "own sequence numbers: counting, collide (those of the ESME's outstanding submits), zero; default counting")
	f.IntVar(&t.Window, "deliver-window", 0, "unanswered requests on a connection; default 1000")
}

func linkFlags(c *cobra.Command, l *smpptest.Link) {
	f := c.Flags()
	f.IntVar(&l.DropEvery, "drop-every", 0, "drop the connection at every n-th submit_sm")
	f.Float64Var(&l.DropShare, "drop", 0, "drop it at this share of submits")
	f.Var(listValue[smpptest.Drop]{&l.Drops, parseDrop, "how"}, "drop-how", "before or after the response, in mid-PDU (mid), reset; several are taken in turn; default before")
	f.IntVar(&l.SilentAfter, "silent-after", 0, "a connection says nothing more after n PDUs of the ESME")
	f.IntVar(&l.Fragment, "fragment", 0, "cut writes into pieces of n octets")
	f.DurationVar(&l.Gather, "gather", 0, "hold writes back so long, so that many PDUs go in one")
	f.IntVar(&l.ReadRate, "read-rate", 0, "octets a second that are read from a connection; 0: as they come")
}

package smpptest

import (
	"time"

	"esmed/smpp"
)

// Action is what is done about one submit_sm.
type Action struct {
	Status     smpp.Status   // of the response; anything but ESME_ROK: not taken on, no receipts
	MessageID  string        // in the response; receipts follow when it is changed
	Delay      time.Duration // before the response
	Never      bool          // no response
	Held       bool          // none until Server.Answer
	Drop       Drop          // ends the connection
	FromSubmit bool          // receipts do not wait for the response, and Planned.Delay counts from the submit
	Receipts   []Planned     // valid until OnSubmit returns

	shuffled bool
}

// Planned is a request that the SMSC will send on account of a submit.
type Planned struct {
	Kind           Kind
	Word           string        // stat of a receipt
	State          string        // what a Word that is not SMPP's stands for
	Delay          time.Duration // after the response
	BeforeResponse bool          // written before the response, where a receiver is bound; Delay means nothing
	DataSM         bool
	BadDates       bool
	BrokenTLVs     bool
}

// plan decides by the Config what happens to a submit. The plan's Receipts are the server's scratch.
func (s *Server) plan(sub *Submit, now time.Time) Action {
	d, cfg := newDice(s.cfg.Seed, sub.N), &s.cfg.Answers
	a := Action{MessageID: sub.MessageID, Delay: cfg.Delay + d.upTo(cfg.Jitter), shuffled: cfg.Shuffle > 1}
	if s.throttle.over(cfg.ThrottleAbove, now) || cfg.storm(now.Sub(s.started)) {
		a.Status = smpp.StatusThrottled
	}
	for _, r := range cfg.Refuse {
		if d.hit(r.Share) && a.Status == smpp.StatusOK {
			a.Status = r.Status
		}
	}
	a.Never = d.hit(cfg.Never)
	if d.hit(cfg.Late) && !a.Never {
		a.Delay, a.shuffled, a.FromSubmit = cfg.LateBy, false, true
	}
	link := &s.cfg.Link
	if d.hit(link.DropShare) || link.DropEvery > 0 && sub.N%uint64(link.DropEvery) == 0 {
		a.Drop = link.Drops[s.drops%len(link.Drops)]
		s.drops++
	}
	s.planned = s.planned[:0]
	s.planReceipts(sub, &d)
	s.planTraffic(&d)
	a.Receipts = s.planned
	return a
}

func (s *Server) planReceipts(sub *Submit, d *dice) {
	r := &s.cfg.Receipts
	final := pick(r.States, d.share())
	delay := r.Delay + d.upTo(r.Jitter)
	p := Planned{Kind: Final, Word: final.Word, State: final.State, Delay: delay,
		BeforeResponse: d.hit(r.BeforeResponse), DataSM: d.hit(r.DataSM), BadDates: d.hit(r.BadDates), BrokenTLVs: d.hit(r.BrokenTLVs)}
	before, after, again, contradicted := d.hit(r.Intermediate), d.hit(r.IntermediateAfter), d.hit(r.Duplicates), d.hit(r.Contradictions)
	if !r.Always && !sub.wantsReceipt(final.Word == "DELIVRD") {
		return
	}
	enroute := Planned{Kind: Intermediate, Word: "ENROUTE", Delay: delay / 2, DataSM: p.DataSM}
	if before {
		s.planned = append(s.planned, enroute)
	}
	s.planned = append(s.planned, p)
	if again {
		for range r.Copies {
			p.Kind, p.BeforeResponse = Duplicate, false
			p.Delay += d.upTo(r.Jitter)
			s.planned = append(s.planned, p)
		}
	}
	if after {
		enroute.Delay = delay + d.upTo(r.Jitter)
		s.planned = append(s.planned, enroute)
	}
	if contradicted {
		p.Kind, p.BeforeResponse, p.Delay, p.State = Contradiction, false, delay+d.upTo(r.Jitter), ""
		p.Word = "DELIVRD"
		if final.Word == "DELIVRD" {
			p.Word = "UNDELIV"
		}
		s.planned = append(s.planned, p)
	}
}

func (s *Server) planTraffic(d *dice) {
	t := &s.cfg.Traffic
	for _, share := range [...]struct {
		of   float64
		kind Kind
	}{
		{s.cfg.Receipts.Unknown, UnknownID}, {t.MO, MO}, {t.MOLikeReceipt, MOLikeReceipt},
		{t.Garbage, Garbage}, {t.UnknownCommand, UnknownCommand}, {t.Oversize, Oversize},
	} {
		delay := s.cfg.Receipts.Delay + d.upTo(s.cfg.Receipts.Jitter)
		if d.hit(share.of) {
			s.planned = append(s.planned, Planned{Kind: share.kind, Word: "DELIVRD", Delay: delay})
		}
	}
}

// pick is the member of a mix at a point from 0 to 1.
func pick(mix []StateShare, at float64) StateShare {
	total := 0.0
	for _, m := range mix {
		total += m.Share
	}
	for _, m := range mix {
		if at -= m.Share / total; at < 0 {
			return m
		}
	}
	return mix[len(mix)-1]
}

// storm says whether a time after the server's start lies in the storm.
func (a *Answers) storm(at time.Duration) bool {
	return at >= a.ThrottleAfter && at < a.ThrottleAfter+a.ThrottleFor
}

// throttle counts submits in seconds of the clock.
type throttle struct {
	second int64
	count  int
}

func (t *throttle) over(limit int, now time.Time) bool {
	if limit <= 0 {
		return false
	}
	if s := now.Unix(); s != t.second {
		t.second, t.count = s, 0
	}
	t.count++
	return t.count > limit
}

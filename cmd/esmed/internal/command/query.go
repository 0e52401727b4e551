package command

import (
	"context"
	"fmt"
	"strings"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func queryCommand() *cobra.Command {
	var (
		r    reach
		f    format
		part count
	)
	cmd := &cobra.Command{
		Use:   "query ID...",
		Short: "Ask the SMSC what became of a message",
		Long: `Sends query_sm for each attempt that has an id, and says what the SMSC answers and what that did to the message:
the answer is evidence like a receipt. A message that is closed may be asked about too; a final state stays.

Exit status 0 when every question was answered with ESME_ROK, else 1.`,
		Example: "  esmed query 01JDXW5Q0C8Z4Y3K7M2N9P6R5T\n  esmed query 01JDXW5Q0C8Z4Y3K7M2N9P6R5T --part 2 -o json",
		GroupID: groupMessages,
		Args:    someIDs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			c := r.daemon()
			defer c.Close()
			o := f.to(cmd)
			return eachMessage(cmd.Context(), o, ids, func(ctx context.Context, id string) (control.Inquiry, bool, error) {
				found, err := c.Query(ctx, id, int(part))
				return found, found.OK, err
			}, o.inquiry, func(failed int) *failure {
				return &failure{
					text: fmt.Sprintf("the SMSC did not say what became of %d of %s, or not of all parts", failed, plural(len(ids), "message")),
					hint: "what is said of each part tells why; esmed status ID tells what is known here",
				}
			})
		},
	}
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().Var(&part, "part", "ask about this part only, from 1; 0 asks about all")
	return cmd
}

func (o output) inquiry(found control.Inquiry) {
	final := "not final"
	if found.Final {
		final = "final"
	}
	o.printf("%s  %s, %s\n", clean(found.Message), o.state(found.State), final)
	for i := range found.Asked {
		a := &found.Asked[i]
		o.printf("    %s: %s%s\n", partWords(a.Part, a.Attempt), askedWords(a), recordWords(a.Record))
	}
}

// askedWords say what the SMSC answered, and what that did.
func askedWords(a *control.Asked) string {
	switch a.Outcome {
	case control.OutcomeRefused:
		return "query_sm refused" + statusWords(a.CommandStatus)
	case control.OutcomeUnanswered, control.OutcomeUnasked:
		return clean(a.Detail)
	}
	words := []string{or(a.Reported, "names no state")}
	if a.FinalDate != "" {
		words = append(words, "final_date "+clean(a.FinalDate))
	}
	if a.ErrorCode != nil && *a.ErrorCode != 0 {
		words = append(words, fmt.Sprintf("error_code %d", *a.ErrorCode))
	}
	did := verdictWords(control.Decision{Verdict: a.Verdict})
	switch {
	case a.From != a.To:
		did += fmt.Sprintf("; %s, was %s", clean(a.To), clean(a.From))
	case a.Detail != "":
		did = withWhy(did, a.Detail)
	}
	return strings.Join(words, ", ") + ": " + did
}

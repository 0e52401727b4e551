package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"esmed/statemachine"
)

// Diagnoser tries id rules on what waits and what is open, and changes nothing.
type Diagnoser interface {
	// Diagnose looks at one SMSC, or "" at all.
	Diagnose(ctx context.Context, smsc string) ([]*statemachine.SMSCDiagnosis, error)
}

func (a *API) routeDiagnosis(api huma.API) {
	register(a, api, get("/v1/inbox/diagnosis", "diagnosis", "Which id rules and time zone would fit an SMSC's receipts"), a.diagnose)
}

type diagnoseIn struct {
	SMSC string `query:"smsc"`
}

func (a *API) diagnose(ctx context.Context, in *diagnoseIn) (List[Diagnosis], error) {
	if a.cfg.Diagnose == nil {
		return List[Diagnosis]{}, newProblem(http.StatusServiceUnavailable, "there is nothing to diagnose with", "")
	}
	found, err := a.cfg.Diagnose.Diagnose(ctx, in.SMSC)
	if err != nil {
		return List[Diagnosis]{}, err
	}
	return newList(found, "", diagnosis), nil
}

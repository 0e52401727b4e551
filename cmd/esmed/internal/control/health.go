package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Health is the answer of /healthz and /readyz.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// routeHealth registers what monitoring asks for. /healthz is answered while the process lives, /readyz
// while it can do its work.
func (a *API) routeHealth(api huma.API) {
	register(a, api, get("/healthz", "healthz", "Is the process alive"), func(context.Context, *struct{}) (Health, error) {
		return Health{"ok"}, nil
	})
	register(a, api, get("/readyz", "readyz", "Can it do its work"), func(ctx context.Context, _ *struct{}) (Health, error) {
		if a.cfg.Ready == nil {
			return Health{"ok"}, nil
		}
		if err := a.cfg.Ready(ctx); err != nil {
			return Health{}, newProblem(http.StatusServiceUnavailable, err.Error(), "")
		}
		return Health{"ok"}, nil
	})
	if a.cfg.Metrics != nil {
		a.router.HandleFunc("GET /metrics", a.cfg.Metrics.ServeHTTP)
	}
}

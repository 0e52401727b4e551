package control

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
)

func (a *API) routeAlerts(api huma.API) {
	register(a, api, get("/v1/alerts", "alerts", "What an operator has to know of, measured now"), a.listAlerts)
}

func (a *API) listAlerts(ctx context.Context, _ *struct{}) (List[Alert], error) {
	l := List[Alert]{Items: []Alert{}}
	if a.cfg.Alerts != nil {
		l.Items = append(l.Items, a.cfg.Alerts(ctx)...)
	}
	return l, nil
}

// Alerts asks the daemon to measure what alerts look at, and gives all of them, active or not.
func (c *Client) Alerts(ctx context.Context) ([]Alert, error) {
	var l List[Alert]
	err := c.get(ctx, "/v1/alerts", nil, &l)
	return l.Items, err
}

package control

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
)

func (a *API) routeQueue(api huma.API) {
	register(a, api, get("/v1/queue", "queue", "What waits for each SMSC, and why it does"), a.listQueues)
}

func (a *API) listQueues(ctx context.Context, _ *struct{}) (List[Queue], error) {
	l := List[Queue]{Items: []Queue{}}
	if a.cfg.Queues == nil {
		return l, nil
	}
	queues, err := a.cfg.Queues(ctx)
	for _, q := range queues {
		q.Why = q.explain()
		l.Items = append(l.Items, q)
	}
	return l, err
}

package control

// Health is the answer of /healthz and /readyz.
type Health struct {
	Status string `json:"status" doc:"ok"`
}

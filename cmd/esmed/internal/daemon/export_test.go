package daemon

// Contract is every metric of ours, with its labels.
func Contract() map[string][]string { return contract }

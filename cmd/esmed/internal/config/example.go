package config

import _ "embed"

//go:embed example.yaml
var example string

// Example is a complete, commented configuration file. Loaded, it equals the defaults.
func Example() string { return example }

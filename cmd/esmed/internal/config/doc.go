// Package config turns file, environment and flags into one validated value.
//
// The order is fixed: Default, then the YAML file, then the environment (ESMED_ and the key's path
// with __ between its steps: ESMED_API__LISTEN), then flags, then Validate. Unknown keys are errors.
// Load reports every problem at once, each with its path:
//
//	smscs[0].window: must be 1 or more (got 0)
//	smscs[1].rules.detekt: unknown key
//
// A *Config that Load returned is complete and valid: durations are durations, passwords are read,
// names of states and statuses are resolved. Nothing in it is modified afterwards; a reload makes a
// new one.
//
// Keys of the documented configuration that this version does not carry out are accepted at their
// default and refused at any other value, so that nothing an operator wrote is silently without effect.
package config

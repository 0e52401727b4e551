// Package store keeps the log and, through one applier, all that follows from it.
package store

// Package smpp speaks SMPP v3.4 as an ESME.
package smpp

package config

import (
	"fmt"

	"esmed/smpp"
)

// parseStatus reads a status by its name (ESME_RINVDSTADR), in any case, or, for a vendor's own, by its
// number (0x408). ESME_ROK is no refusal and an error.
func parseStatus(s string) (smpp.Status, error) {
	status, err := smpp.ParseStatus(s)
	if err != nil || status == smpp.StatusOK || octal(s) {
		return 0, fmt.Errorf("not a status: write a name as ESME_RINVDSTADR or a number as 0x408 (got %q)", s)
	}
	return status, nil
}

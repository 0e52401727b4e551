package receipt_test

const (
	deliverSM = 0x00000005
	dataSM    = 0x00000103
)

package control

// List is the envelope of every list (CONTRACT: lists). Items is never null; Next is the cursor of the
// following page, "" after the last one.
type List[T any] struct {
	Items []T    `json:"items" nullable:"false"`
	Next  string `json:"next"`
}

// newList renders values one by one into an envelope.
func newList[V, T any](values []V, next string, render func(V) T) List[T] {
	l := List[T]{Items: make([]T, 0, len(values)), Next: next}
	for _, v := range values {
		l.Items = append(l.Items, render(v))
	}
	return l
}

// Sizes of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

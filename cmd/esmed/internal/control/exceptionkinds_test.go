package control

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExceptionKinds_areThoseThatTheQueryTakes(t *testing.T) {
	field, ok := reflect.TypeFor[listExceptionsIn]().FieldByName("Kind")
	require.True(t, ok)
	require.Equal(t, slices.Sorted(slices.Values(strings.Split(field.Tag.Get("enum"), ","))), ExceptionKinds())
}

package docs_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"
	"esmed/cmd/esmed/internal/config"

	"github.com/stretchr/testify/require"
)

var aKey = regexp.MustCompile("`([a-z_]+(?:(?:\\[\\])?\\.[a-z_]+)+|data_dir|default_smsc|shutdown_timeout)`")

// The table of keys has each that the configuration has, and no other.
func TestConfiguration_hasEveryKey(t *testing.T) {
	text, _ := docs.Text("configuration")
	_, table, ok := strings.Cut(text, "\n## Every key\n")
	require.True(t, ok)
	var told []string
	for _, m := range aKey.FindAllStringSubmatch(table, -1) {
		told = append(told, m[1])
	}
	require.ElementsMatch(t, keys("", reflect.TypeFor[config.Config]()), told)
}

// keys are the paths of all values of t. Those that a rule of its own reads (rules.message_id) are one.
func keys(path string, t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("koanf")
		if name == "" {
			return []string{path}
		}
		if path != "" {
			name = path + "." + name
		}
		inner := t.Field(i).Type
		if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
			name, inner = name+"[]", inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			all = append(all, keys(name, inner)...)
			continue
		}
		all = append(all, name)
	}
	return all
}

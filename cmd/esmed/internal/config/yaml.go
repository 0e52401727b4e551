package config

import (
	"fmt"

	"github.com/knadh/koanf/parsers/yaml"
)

// fileParser reads YAML and refuses keys that are not strings.
type fileParser struct{ ps *problems }

func (f fileParser) Unmarshal(b []byte) (map[string]any, error) {
	m, err := yaml.Parser().Unmarshal(b)
	if err != nil {
		return nil, err
	}
	clean, _ := f.clean("", m).(map[string]any)
	return clean, nil
}

// Marshal is a part of koanf's interface that is never called.
func (f fileParser) Marshal(m map[string]any) ([]byte, error) { return yaml.Parser().Marshal(m) }

// clean gives v with string keys only. YAML reads an unquoted 027 as the number 23: put back into
// text it would name another error code.
func (f fileParser) clean(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = f.clean(join(path, key), inner)
		}
		return v
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			name, ok := key.(string)
			if !ok {
				f.ps.add(path, `the key %v is not in quotes, so YAML does not read it as text (027 becomes 23): write "027"`, key)
				continue
			}
			m[name] = f.clean(join(path, name), inner)
		}
		return m
	case []any:
		for i := range v {
			v[i] = f.clean(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
		return v
	default:
		return v
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

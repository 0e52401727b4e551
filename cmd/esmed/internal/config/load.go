package config

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"esmed/receipt"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

// delim separates the steps of a path inside koanf. It cannot occur in a key that a person writes, so
// that a dot or a slash in a word of rules.states stays part of the word.
const delim = "\x1f"

// EnvPrefix begins the name of every environment variable that is read.
const EnvPrefix = "ESMED_"

// cliVariables belong to the command line, not to the configuration.
var cliVariables = map[string]bool{"ESMED_SOCKET": true}

// Load reads the file at path, then environ ("KEY=value", as os.Environ gives it), then flags (keyed by
// the key's path: "api.socket"), reads the passwords, and validates. path "" reads no file. The
// error joins every *Problem; only a file that cannot be read or parsed stops it early.
func Load(path string, environ []string, flags map[string]string) (*Config, error) {
	c, ps, err := read(path, environ, flags)
	if err != nil {
		return nil, err
	}
	c.validate(ps)
	c.readSecrets(ps, filepath.Dir(path), lookup(environ, "CREDENTIALS_DIRECTORY"))
	if err := ps.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// LoadRules reads what Load reads and gives one SMSC's reading rules. It needs no right to the
// passwords. smsc "" is the only one, or default_smsc.
func LoadRules(path string, environ []string, smsc string) (receipt.Rules, error) {
	c, ps, err := read(path, environ, nil)
	if err != nil {
		return receipt.Rules{}, err
	}
	c.validate(ps)
	if err := ps.err(); err != nil {
		return receipt.Rules{}, err
	}
	if smsc == "" {
		smsc = c.DefaultSMSC
	}
	if smsc == "" && len(c.SMSCs) == 1 {
		return c.SMSCs[0].ReceiptRules(), nil
	}
	s := c.SMSC(smsc)
	if s == nil {
		return receipt.Rules{}, &Problem{Path: "smscs", Text: fmt.Sprintf("none is named %q (there are: %s)", smsc, strings.Join(c.names(), ", "))}
	}
	return s.ReceiptRules(), nil
}

func read(path string, environ []string, flags map[string]string) (*Config, *problems, error) {
	ps := new(problems)
	k := koanf.New(delim)
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fmt.Errorf("config: %w", err)
		}
		if err := k.Load(rawbytes.Provider(b), fileParser{ps}); err != nil {
			return nil, nil, fmt.Errorf("config: %s: %w", path, err)
		}
	}
	origin := make(map[string]string) // path: the variable it came from
	if err := k.Load(environment(environ, origin, ps), nil); err != nil {
		return nil, nil, fmt.Errorf("config: environment: %w", err)
	}
	for p, v := range flags {
		if err := k.Set(strings.ReplaceAll(p, ".", delim), textValue(v)); err != nil {
			return nil, nil, fmt.Errorf("config: flags: %w", err)
		}
	}
	c := Default()
	if err := decode(k.Raw(), &c, origin, ps); err != nil {
		return nil, nil, fmt.Errorf("config: %w", err)
	}
	for i := range c.SMSCs {
		if c.SMSCs[i].Account == "" {
			c.SMSCs[i].Account = c.SMSCs[i].Name
		}
	}
	return &c, ps, nil
}

// environment takes the variables with our prefix. List elements have no names that would be stable
// enough to set from outside.
func environment(environ []string, origin map[string]string, ps *problems) *env.Env {
	return env.Provider(delim, env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			if cliVariables[name] {
				return "", nil
			}
			steps := strings.Split(strings.ToLower(strings.TrimPrefix(name, EnvPrefix)), "__")
			switch steps[0] {
			case "smscs", "webhooks", "callbacks":
				ps.add(name, "elements of %s cannot be set from the environment: write them in the file", steps[0])
				return "", nil
			}
			origin[strings.Join(steps, ".")] = name
			return strings.Join(steps, delim), textValue(value)
		},
	})
}

func decode(raw map[string]any, c *Config, origin map[string]string, ps *problems) error {
	var meta mapstructure.Metadata
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:     c,
		TagName:    "koanf",
		Metadata:   &meta,
		MatchName:  func(key, field string) bool { return key == field },
		DecodeHook: mapstructure.DecodeHookFuncValue(hook),
	})
	if err != nil {
		return err
	}
	if err := d.Decode(raw); err != nil {
		ps.addDecode(err)
	}
	sort.Strings(meta.Unused)
	for _, path := range meta.Unused {
		if name := origin[path]; name != "" {
			ps.add(path, "unknown key (from %s)", name)
			continue
		}
		ps.add(path, "unknown key")
	}
	return nil
}

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

func lookup(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

func (c *Config) names() []string {
	names := make([]string, len(c.SMSCs))
	for i := range c.SMSCs {
		names[i] = c.SMSCs[i].Name
	}
	return names
}

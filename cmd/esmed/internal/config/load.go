package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
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
// the key's path: "api.socket"), validates, and reads the passwords. path "" reads no file. The
// error joins every *Problem; only a file that cannot be read or parsed stops it early.
func Load(path string, environ []string, flags map[string]string) (*Config, error) {
	c, ps, err := read(path, environ, flags)
	if err != nil {
		return nil, err
	}
	c.validate(ps)
	c.placeFiles(filepath.Dir(path), lookup(environ, "CREDENTIALS_DIRECTORY"))
	c.checkFiles(ps)
	c.readSecrets(ps)
	if err := ps.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// LoadSMSC reads what Load reads and gives one SMSC, for what is read under its rules. It needs no right to the
// passwords, and gives none. smsc "" is the only one, or default_smsc.
func LoadSMSC(path string, environ []string, smsc string) (*SMSC, error) {
	c, ps, err := read(path, environ, nil)
	if err != nil {
		return nil, err
	}
	c.validate(ps)
	if err := ps.err(); err != nil {
		return nil, err
	}
	if smsc == "" {
		smsc = c.DefaultSMSC
	}
	if smsc == "" && len(c.SMSCs) == 1 {
		return &c.SMSCs[0], nil
	}
	s := c.SMSC(smsc)
	if s == nil {
		return nil, &Problem{Path: "smscs", Text: fmt.Sprintf("none is named %q (there are: %s)", smsc, strings.Join(c.names(), ", "))}
	}
	return s, nil
}

// SMSCNames are the names of the SMSCs of a configuration, in its order, whatever else is wrong with it. It needs no
// right to the passwords.
func SMSCNames(path string, environ []string) ([]string, error) {
	c, _, err := read(path, environ, nil)
	if err != nil {
		return nil, err
	}
	return c.names(), nil
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
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:     c,
		TagName:    tag,
		MatchName:  func(key, field string) bool { return key == field },
		DecodeHook: mapstructure.DecodeHookFuncValue(hook),
	})
	if err != nil {
		return err
	}
	unknownKeys(ps, origin, "", raw, reflect.TypeFor[Config]())
	if err := d.Decode(raw); err != nil {
		ps.addDecode(err)
	}
	return nil
}

const tag = "koanf"

// unknownKeys finds the keys that no field of t takes. (The decoder's own report leaves them out where a
// value beside them is wrong too.)
func unknownKeys(ps *problems, origin map[string]string, path string, v any, t reflect.Type) {
	switch v := v.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return
		}
		for i := range v {
			unknownKeys(ps, origin, fmt.Sprintf("%s[%d]", path, i), v[i], t.Elem())
		}
	case map[string]any:
		if t.Kind() != reflect.Struct || t == typeIDRules {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := join(path, key)
			field, ok := t.FieldByNameFunc(func(name string) bool {
				f, _ := t.FieldByName(name)
				return f.Tag.Get(tag) == key
			})
			switch {
			case ok:
				unknownKeys(ps, origin, at, v[key], field.Type)
			case origin[at] != "":
				ps.add(at, "unknown key (from %s)", origin[at])
			default:
				ps.add(at, "unknown key")
			}
		}
	}
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

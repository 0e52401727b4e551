package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/receipt"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/stretchr/testify/require"
)

// minimal is the least that loads.
const minimal = `
smscs:
  - name: alpha
    addr: [127.0.0.1:2775]
    system_id: esme
    password: s3cret
`

func write(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), mode))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func load(t *testing.T, yaml string, environ ...string) (*config.Config, error) {
	t.Helper()
	return config.Load(write(t, "esmed.yaml", yaml, 0o600), environ, nil)
}

// findings are the lines of a Load error.
func findings(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestExample_loadsAndEqualsTheDefaults(t *testing.T) {
	password := write(t, "alpha.password", "s3cret\n", 0o640)
	got, err := load(t, strings.ReplaceAll(config.Example(), "/etc/esmed/alpha.password", password))
	require.NoError(t, err)

	want := config.Default()
	alpha := config.DefaultSMSC()
	alpha.Name, alpha.Account, alpha.SystemID = "alpha", "alpha", "esme"
	alpha.Addr = []string{"smsc.example.net:2775"}
	alpha.Password, alpha.PasswordFile = "s3cret", password
	want.SMSCs = []config.SMSC{alpha}
	require.Equal(t, mustJSON(t, want), mustJSON(t, *got))
	require.Equal(t, "s3cret", string(got.SMSCs[0].Password))
}

func TestExample_hasEveryKey(t *testing.T) {
	example, err := yaml.Parser().Unmarshal([]byte(config.Example()))
	require.NoError(t, err)
	requireKeys(t, "", example, reflect.TypeFor[config.Config]())
}

// requireKeys looks for each field of t in v. Lists of sections that are empty in the example are
// explained there in a comment.
func requireKeys(t *testing.T, path string, v any, typ reflect.Type) {
	t.Helper()
	if list, ok := v.([]any); ok && typ.Kind() == reflect.Slice && len(list) > 0 {
		v, typ = list[0], typ.Elem()
	}
	section, ok := v.(map[string]any)
	if !ok || typ.Kind() != reflect.Struct {
		return
	}
	for f := range typ.Fields() {
		key := f.Tag.Get("koanf")
		if key == "password" { // password_file stands in its place
			continue
		}
		require.Contains(t, section, key, "%s in the example", path)
		requireKeys(t, path+"."+key, section[key], f.Type)
	}
}

// mustJSON compares without telling nil from empty, which the configuration does not either.
func mustJSON(t *testing.T, c config.Config) string {
	t.Helper()
	b, err := json.MarshalIndent(c, "", " ")
	require.NoError(t, err)
	return strings.NewReplacer("[]", "null", "{}", "null").Replace(string(b))
}

func TestLoad_layersInOrder(t *testing.T) {
	path := write(t, "esmed.yaml", "data_dir: /file\nlog: {level: warn, format: console}\n"+minimal, 0o600)
	environ := []string{"ESMED_DATA_DIR=/env", "ESMED_LOG__LEVEL=error", "ESMED_SOCKET=/ignored", "OTHER=1", "ESMED_SHUTDOWN_TIMEOUT=5s", "ESMED_ALERTS__INBOX_OLDER_THAN=2h", "ESMED_ALERTS__COVERAGE_MIN=0x64"}
	c, err := config.Load(path, environ, map[string]string{"data_dir": "/flag"})
	require.NoError(t, err)
	require.Equal(t, "/flag", c.DataDir)
	require.Equal(t, "error", c.Log.Level)
	require.Equal(t, "console", c.Log.Format)
	require.Equal(t, "/run/esmed/esmed.sock", c.API.Socket)
	require.Equal(t, 5*time.Second, c.ShutdownTimeout)
	require.Equal(t, 100, c.Alerts.CoverageMin)
	require.Equal(t, 2*time.Hour, c.Alerts.InboxOlderThan)
}

func TestLoad_listElementsKeepTheirDefaults(t *testing.T) {
	c, err := load(t, minimal+`    window: 3
    reconnect: {max: 2m}
  - name: beta
    account: shared
    addr: ["[::1]:2775"]
    system_id: esme
    rules: {unknown: final}
`)
	require.NoError(t, err)
	require.Equal(t, 3, c.SMSCs[0].Window)
	require.Equal(t, config.Backoff{Min: time.Second, Max: 2 * time.Minute}, c.SMSCs[0].Reconnect)
	require.Equal(t, "alpha", c.SMSCs[0].Account)
	require.Equal(t, 10, c.SMSCs[1].Window)
	require.Equal(t, "shared", c.SMSCs[1].Account)
	require.Equal(t, "tlv", c.SMSCs[1].Rules.Detect)
	require.Equal(t, "final", c.SMSCs[1].Rules.Unknown)
	require.Equal(t, "intermediate", c.SMSCs[1].Rules.Accepted)
}

func TestLoad_reportsEveryProblemAtOnceWithItsPath(t *testing.T) {
	_, err := load(t, `
data_dirr: /x
Log: {level: info}
log: {level: loud, colour: true}
shutdown_timeout: 30
store: {retention: {log: 90dd}}
smscs:
  - name: alpha
    addr: [localhost]
    system_id: 4711
    password: s3cret
    window: 0
    sessions: 1.5
    max_pdu: 300
    source: {ton: 300}
    registered_delivery: {receipt: always}
    retry: {statuses: [ESME_RINVDSTADR, ESME_NONSENSE, 0x408, 0]}
    rules:
      detekt: text
      errors: {027: absent}
      states: {FAILED: BROKEN}
      message_id: [fold_case, {truncate: 0}, {cut_before: "#"}, hex2dec]
  - name: alpha
    addr: [localhost:2775]
    system_id: esme
    tls: true
`, "ESMED_NONSENSE=1", "ESMED_SMSCS__0__WINDOW=5")
	require.ElementsMatch(t, []string{
		`data_dirr: unknown key`,
		`Log: unknown key`,
		`log.colour: unknown key`,
		`log.level: must be debug, info, warn or error (got "loud")`,
		`shutdown_timeout: not a duration: write a number with its unit, as 30s, 5m, 72h or 90d (got 30)`,
		`store.retention.log: not a duration: write a number with its unit, as 30s, 5m, 72h or 90d (got "90dd")`,
		`smscs[0].addr[0]: must be host:port (got "localhost")`,
		`smscs[0].system_id: must be text (in quotes if it looks like a number)`,
		`smscs[0].window: must be 1 or more (got 0)`,
		`smscs[0].sessions: must be a whole number`,
		`smscs[0].source.ton: must be 0 to 255 (got 300)`,
		`smscs[0].registered_delivery.receipt: must be final, failure or none (got "always")`,
		`smscs[0].retry.statuses[1]: not a status: write a name as ESME_RINVDSTADR or a number as 0x408 (got "ESME_NONSENSE")`,
		`smscs[0].retry.statuses[3]: not a status: write a name as ESME_RINVDSTADR or a number as 0x408 (got "0")`,
		`smscs[0].rules.detekt: unknown key`,
		`smscs[0].rules.errors: the key 23 is not in quotes, so YAML does not read it as text (027 becomes 23): write "027"`,
		`smscs[0].rules.states.FAILED: must be an SMPP state, as UNDELIVERABLE (got "BROKEN")`,
		`smscs[0].rules.message_id: rule 2: truncate needs a number of characters, 1 or more; rule 4: there is no rule "hex2dec"`,
		`smscs[1].tls: must be a section`,
		`smscs[1].name: "alpha" is the name of smscs[0] already`,
		`nonsense: unknown key (from ESMED_NONSENSE)`,
		`ESMED_SMSCS__0__WINDOW: elements of smscs cannot be set from the environment: write them in the file`,
	}, findings(err))
	var p *config.Problem
	require.ErrorAs(t, err, &p)
}

func TestLoad_refuses(t *testing.T) {
	tests := []struct {
		name, yaml, want string
	}{
		{"no SMSC", "data_dir: /x\n", "smscs: at least one is needed"},
		{"broken YAML", "smscs: [", "yaml"},
		{"a key that is there twice", "data_dir: /a\ndata_dir: /b\n" + minimal, "yaml: unmarshal errors: line 2: mapping key"},
		{"a version in decimal", minimal + "    interface_version: 34\n", "smscs[0].interface_version: is 0x22, which no SMPP has: write 0x34"},
		{"an address without a host", strings.Replace(minimal, "[127.0.0.1:2775]", `[":2775"]`, 1), `smscs[0].addr[0]: must be host:port (got ":2775")`},
		{"sar without optional parameters", minimal + "    interface_version: 0x33\n    long_messages: sar\n", "smscs[0].long_messages: sar needs optional parameters, which interface_version 0x33 does not have"},
		{"payload without optional parameters", minimal + "    interface_version: 0x33\n    long_messages: payload\n", "smscs[0].long_messages: payload needs optional parameters, which interface_version 0x33 does not have"},
		{"an echoed reference without optional parameters", minimal + "    interface_version: 0x33\n    client_ref_tlv: 0x1401\n", "smscs[0].client_ref_tlv: needs optional parameters, which interface_version 0x33 does not have"},
		{"a tag of the specification as echoed reference", minimal + "    client_ref_tlv: 0x001E\n", "smscs[0].client_ref_tlv: must be a vendor's tag, 0x1400 or more, or 0 for none (got 0x001E)"},
		{"a default SMSC that is not there", "default_smsc: gamma\n" + minimal, `default_smsc: no SMSC is named "gamma" (there are: alpha)`},
		{"TCP without tokens", "api: {listen: 127.0.0.1:8080}\n" + minimal, "api.tokens_file: is required when api.listen is set"},
		{"an inbox that receipts are dropped from while their message may be found", "store: {retention: {inbox: 3d}}\n" + minimal,
			"store.retention.inbox: must be longer than the window of alpha, delivery_window and receipt_grace (got 72h0m0s and 73h0m0s): a receipt could still come"},
		{"messages that are dropped while their receipt may come", "store: {retention: {messages: 73h}}\n" + minimal,
			"store.retention.messages: must be longer than the window of alpha, delivery_window and receipt_grace (got 73h0m0s and 73h0m0s): a receipt could still come"},
		{"messages that are kept longer than the log", "store: {retention: {messages: 91d}}\n" + minimal,
			"store.retention.messages: must not be longer than the log is kept (got 2184h0m0s and 2160h0m0s): set store.retention.log to 2184h0m0s or more"},
		{"texts that are gone before they could be sent", "store: {retention: {texts: 72h}}\n" + minimal,
			"store.retention.texts: must be longer than the delivery_window of alpha (got 72h0m0s and 72h0m0s): what waits in the queue could not be sent"},
		{"exceptions that nobody would see", "store: {retention: {exceptions: 0}}\n" + minimal, "store.retention.exceptions: must be 1m0s or more (got 0s)"},
		{"a certificate that is not there", minimal + "    tls: {enabled: true, ca_file: /nonexistent/ca.pem}\n", "smscs[0].tls.ca_file: open /nonexistent/ca.pem: no such file or directory"},
		{"tokens that are not there", "api: {listen: 127.0.0.1:8080, tokens_file: /nonexistent/tokens}\n" + minimal, "api.tokens_file: open /nonexistent/tokens: no such file or directory"},
		{"a certificate that is a directory", minimal + "    tls: {enabled: true, ca_file: /}\n", "smscs[0].tls.ca_file: / is not a file"},
		{"a second document", minimal + "---\nfoo: 1\n", "line 7: a second document begins: only one is read"},
		{"a document behind the end of one", minimal + "...\nfoo: 1\n", "line 8: a second document begins"},
		{"a number in octal", minimal + "    window: 010\n", "line 7: a number that begins with 0 is octal in YAML (010 is 8)"},
		{"a number in octal among others", minimal + "    reconnect: {min: 1s, max: 60s}\n    source: {ton: 05, npi: 0}\n", "line 8: a number that begins with 0"},
		{"statuses in octal", minimal + "    retry: {statuses: [0x58, 010]} # two\n", "line 7: a number that begins with 0"},
		{"a rate without bound", minimal + "    throughput: .inf\n", "smscs[0].throughput: must be a number"},
		{"a rate that is no number", minimal + "    throughput: .nan\n", "smscs[0].throughput: must be a number"},
		{"a rate below 0", minimal + "    throughput: -1\n", "smscs[0].throughput: must be 0 (no limit) or more (got -1)"},
		{"a response timeout in another unit", minimal + "    response_timeout: 30us\n", "smscs[0].response_timeout: must be 100ms or more (got 30µs)"},
		{"a connect timeout of nothing", minimal + "    connect_timeout: 0\n", "smscs[0].connect_timeout: must be 100ms or more (got 0s)"},
		{"an enquire_link without pause", minimal + "    enquire_link: 1ms\n", "smscs[0].enquire_link: must be 100ms or more (got 1ms)"},
		{"a reconnect without pause", minimal + "    reconnect: {min: 1ms}\n", "smscs[0].reconnect.min: must be 10ms or more (got 1ms)"},
		{"a retry without pause", minimal + "    retry: {min: 0}\n", "smscs[0].retry.min: must be 10ms or more (got 0s)"},
		{"a window that is over at once", minimal + "    delivery_window: 1ms\n", "smscs[0].delivery_window: must be 1s or more (got 1ms)"},
		{"a stop without time", "shutdown_timeout: 1ms\n" + minimal, "shutdown_timeout: must be 100ms or more (got 1ms)"},
		{"both passwords", minimal + "    password_file: /x\n", "smscs[0].password: give password or password_file, not both"},
		{"a zone that is none", minimal + "    rules: {timezone: Mars/Base}\n", `smscs[0].rules.timezone: must be a name of the time zone database, as Europe/Rome (got "Mars/Base")`},
		{"the zone of this machine", minimal + "    rules: {timezone: Local}\n", `smscs[0].rules.timezone: must be a zone's name, as Europe/Rome or UTC (got "Local")`},
		{"ids in two notations", minimal + "    rules: {message_id: [hex_to_dec, dec_to_hex]}\n", "smscs[0].rules.message_id[1]: dec_to_hex cannot follow hex_to_dec: an id is in one notation"},
		{"a word of receipts that is none", minimal + "    rules: {detect: guess}\n", `smscs[0].rules.detect: must be one of esm_class, tlv, text (got "guess")`},
		{"both ids ignored", minimal + "    rules: {message_id: [ignore]}\n", "smscs[0].rules.message_id: ignores both ids: no receipt could ever find its message"},
		{"TLS settings without TLS", minimal + "    tls: {server_name: x}\n", "smscs[0].tls.enabled: is false, so that what else stands under tls would have no effect"},
		{"a country in small letters", minimal + "    dest: {country: it}\n", `smscs[0].dest.country: must be an ISO code of two capital letters, as IT (got "it")`},
		{"no session", minimal + "    sessions: 0\n", "smscs[0].sessions: must be 1 or more (got 0)"},
		{"a session for every message", minimal + "    sessions: 101\n", "smscs[0].sessions: must be 100 or less (got 101)"},
		{"a bind that only receives", minimal + "    bind: receiver\n", `smscs[0].bind: must be transceiver or transmitter+receiver (got "receiver")`},
		{"a window of coverage in which nothing settles", "alerts: {coverage_window: 6h30m}\n" + minimal,
			"alerts.coverage_settle: must be at least an hour less than coverage_window (got 6h0m0s and 6h30m0s): no message would ever count"},
		{"a webhook", "webhooks: [{name: crm}]\n" + minimal, "webhooks: not in this version: leave it at its default"},
		{"a word that differs from another in case only", minimal + "    rules: {states: {a: DELIVERED, A: EXPIRED}}\n", `smscs[0].rules.states: "A" is there twice: words are read in any case`},
		{"a status that both waits and pauses", minimal + "    retry: {statuses: [0x400], pause_statuses: [1024]}\n", "smscs[0].retry.pause_statuses: 0x00000400 is in retry.statuses too: it either waits or pauses"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.yaml)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestLoad_takesWhatOnlyLooksOdd(t *testing.T) {
	for name, yaml := range map[string]string{
		"the beginning and the end of the one document": "# esmed\n%YAML 1.1\n---\n" + minimal + "...\n# the end\n",
		"a document that begins on the line":            "--- # esmed\n" + minimal,
		"an octal number in a comment":                  minimal + "    window: 10 # was 010\n",
		"digits in quotes":                              minimal + "    source: {addr: '010', ton: 0}\n    system_type: \"0 \\\" 010\"\n",
		"digits in a text":                              minimal + "    system_type: room 010\n    address_range: {range: 010 or 020}\n",
		"hexadecimal":                                   minimal + "    interface_version: 0x34\n",
		"a fraction":                                    minimal + "    throughput: 0.5\n",
		"no enquire_link at all":                        minimal + "    enquire_link: 0\n",
	} {
		_, err := load(t, yaml)
		require.NoError(t, err, name)
	}
}

func TestLoad_octalFromTheEnvironment(t *testing.T) {
	_, err := load(t, minimal, "ESMED_ALERTS__OVERDUE_ABOVE=010")
	require.EqualError(t, err, "alerts.overdue_above: must be a whole number")
}

func TestWarnings(t *testing.T) {
	certificate, private := newPair(t)
	key := write(t, "alpha.key", certificate+private, 0o644)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	tokens := write(t, "tokens", "", 0o644)
	api := "\napi: {listen: 127.0.0.1:0, tokens_file: " + tokens + "}"
	path := write(t, "esmed.yaml", "data_dir: "+dir+api+minimal+"    tls: {enabled: true, cert_file: "+key+", key_file: "+key+"}\n", 0o604)
	c, err := config.Load(path, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{
		"data_dir: " + dir + " holds messages and is open to others (mode 0755): chmod 0700 it",
		"api.tokens_file: " + tokens + " says who may use the API and is open to others (mode 0644): chmod 0640 it",
		"smscs[0].password: " + path + " holds a password and is open to others (mode 0604): chmod 0640 it",
		"smscs[0].tls.key_file: " + key + " holds a key and is open to others (mode 0644): chmod 0640 it",
	}, texts(c.Warnings(path)))

	for file, mode := range map[string]os.FileMode{dir: 0o700, path: 0o640, key: 0o640, tokens: 0o640} {
		require.NoError(t, os.Chmod(file, mode))
	}
	require.Empty(t, c.Warnings(path))
	require.NoError(t, os.Remove(dir))
	require.Empty(t, c.Warnings(path), "a data_dir is made when there is none")
}

func texts(problems []*config.Problem) (lines []string) {
	for _, p := range problems {
		lines = append(lines, p.Error())
	}
	return lines
}

func TestLoad_problemsDoNotShowPasswords(t *testing.T) {
	c, err := load(t, strings.Replace(minimal, "s3cret", "4711001", 1))
	require.Nil(t, c)
	require.Equal(t, []string{"smscs[0].password: must be text (in quotes if it looks like a number)"}, findings(err))

	c, err = load(t, minimal)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		require.NotContains(t, fmt.Sprintf(verb, *c), "s3cret", verb)
	}
	require.NotContains(t, mustJSON(t, *c), "s3cret")
}

func TestLoad_passwordFile(t *testing.T) {
	withFile := func(path string) string {
		return strings.Replace(minimal, "password: s3cret", "password_file: "+path, 1)
	}
	t.Run("its line end is not a part of it", func(t *testing.T) {
		c, err := load(t, withFile(write(t, "p", "s3cret\r\n", 0o640)))
		require.NoError(t, err)
		require.Equal(t, config.Secret("s3cret"), c.SMSCs[0].Password)
	})
	t.Run("a name is looked for among the credentials of systemd", func(t *testing.T) {
		path := write(t, "alpha.password", "s3cret", 0o400)
		c, err := load(t, withFile("alpha.password"), "CREDENTIALS_DIRECTORY="+filepath.Dir(path))
		require.NoError(t, err)
		require.Equal(t, config.Secret("s3cret"), c.SMSCs[0].Password)
	})
	t.Run("so is a path, as the files of a directory are named there", func(t *testing.T) {
		path := write(t, "credentials_alpha.password", "s3cret", 0o400)
		c, err := load(t, withFile("credentials/alpha.password"), "CREDENTIALS_DIRECTORY="+filepath.Dir(path))
		require.NoError(t, err)
		require.Equal(t, config.Secret("s3cret"), c.SMSCs[0].Password)
	})
	t.Run("else beside the configuration", func(t *testing.T) {
		path := write(t, "alpha.password", "s3cret", 0o600)
		file := filepath.Join(filepath.Dir(path), "esmed.yaml")
		require.NoError(t, os.WriteFile(file, []byte(withFile("alpha.password")), 0o600))
		c, err := config.Load(file, nil, nil)
		require.NoError(t, err)
		require.Equal(t, config.Secret("s3cret"), c.SMSCs[0].Password)
	})
	for name, tt := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"open to everybody":     {"s3cret", 0o644, "is open to others (mode 0644): chmod 0640 it, or 0600"},
		"writable by its group": {"s3cret", 0o660, "is open to others (mode 0660)"},
		"empty":                 {"\n", 0o600, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, withFile(write(t, "p", tt.content, tt.mode)))
			require.ErrorContains(t, err, "smscs[0].password_file: ")
			require.ErrorContains(t, err, tt.want)
		})
	}
	t.Run("missing, found together with other problems", func(t *testing.T) {
		_, err := load(t, withFile("/nonexistent/p")+"    window: 0\n")
		require.Len(t, findings(err), 2)
		require.ErrorContains(t, err, "smscs[0].password_file: stat /nonexistent/p: no such file or directory")
	})
}

func TestLoad_aFileThatIsNotThere(t *testing.T) {
	_, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"), nil, nil)
	require.True(t, errors.Is(err, os.ErrNotExist))
}

func TestLoadSMSC_needsNoPassword(t *testing.T) {
	path := write(t, "esmed.yaml", `
smscs:
  - name: alpha
    addr: [127.0.0.1:2775]
    system_id: esme
    password_file: /nonexistent/p
    client_ref_tlv: 0x1501
    rules:
      message_id: {tlv: [hex_to_dec], text: [{cut_after: "@"}, fold_case]}
      timezone: Europe/Rome
      accepted: final
      state: text
      address_check: flag
      detect: text
      states: {"fail.ed": undeliverable}
      errors: {"027": absent_subscriber}
`, 0o600)
	want := receipt.Rules{
		Detect: receipt.DetectText, Believe: receipt.BelieveText, AddressCheck: receipt.AddressFlag,
		TLVID:         receipt.IDRules{{Name: "hex_to_dec"}},
		TextID:        receipt.IDRules{{Name: "cut_after", Sep: "@"}, {Name: "fold_case"}},
		Timezone:      "Europe/Rome",
		AcceptedFinal: true,
		States:        map[string]receipt.MessageState{"FAIL.ED": receipt.Undeliverable},
		Errors:        map[string]string{"027": "absent_subscriber"},
		ClientRefTLV:  0x1501,
	}
	want.Prepare()
	for _, name := range []string{"alpha", ""} {
		got, err := config.LoadSMSC(path, nil, name)
		require.NoError(t, err)
		require.Equal(t, want, got.ReceiptRules())
	}
	_, err := config.LoadSMSC(path, nil, "beta")
	require.EqualError(t, err, `smscs: none is named "beta" (there are: alpha)`)
}

func TestSMSCNames_doNotNeedTheRest(t *testing.T) {
	path := write(t, "esmed.yaml", "smscs: [{name: beta, password_file: /nonexistent/p}, {name: alpha, window: 0}]", 0o600)
	names, err := config.SMSCNames(path, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"beta", "alpha"}, names)
	_, err = config.SMSCNames(filepath.Join(t.TempDir(), "none.yaml"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDefaultSMSC_readsAsReceiptDoes(t *testing.T) {
	s := config.DefaultSMSC()
	require.Equal(t, receipt.DefaultRules(), s.ReceiptRules())
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "0d": 0,
	} {
		got, err := config.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "90", "d", "-1d", "1.5d", "1d2", "1d-2h", "1d+2h", "1d1d", "99999d", "1 d", "1w"} {
		_, err := config.ParseDuration(text)
		require.Error(t, err, text)
	}
}

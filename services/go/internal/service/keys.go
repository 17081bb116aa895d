package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// sections names every key that a configuration may have, by the object that
// holds it. encoding/json alone would take `Codec` for `codec` and would not
// say where an unknown key stands.
var sections = map[string][]string{
	"": {"contract", "stack", "listen", "metrics_listen", "store", "tls", "socket", "processors",
		"collector", "faults"},
	"stack": {"binding", "codec", "soap", "compression", "transport", "security", "end_of_message",
		"close_delay_ms", "reply"},
	"store":     {"hello_bytes", "accounts", "balance", "username", "password", "kind", "url", "pool", "timeout_ms"},
	"tls":       {"certificate", "key", "client_ca"},
	"socket":    {"nagle", "writes", "quickack", "tcp_window", "h2_window"},
	"collector": {"gogc", "memory_limit_bytes"},
	"faults":    append([]string{"delay_us"}, rustFaults...),
}

// checkKeys refuses keys that the process contract does not know.
func checkKeys(line []byte) error {
	top, err := object(line)
	if err != nil {
		return configRefusal("not a JSON object: " + err.Error())
	}
	if err := checkSection("", top); err != nil {
		return err
	}
	for _, name := range sections[""] {
		if sections[name] == nil || top[name] == nil {
			continue
		}
		keys, err := object(top[name])
		if err != nil {
			return &Refusal{name, "must be a JSON object: " + err.Error(), "write {} for the defaults"}
		}
		if err := checkSection(name, keys); err != nil {
			return err
		}
	}
	return nil
}

func object(text []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var keys map[string]json.RawMessage
	if err := decoder.Decode(&keys); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more follows after the object")
	}
	return keys, nil
}

func checkSection(section string, keys map[string]json.RawMessage) error {
	known := sections[section]
	for key := range keys {
		if !slices.Contains(known, key) {
			return &Refusal{strings.TrimPrefix(section+"."+key, "."), "there is no such option",
				"the options here are " + strings.Join(known, ", ")}
		}
	}
	return nil
}

// Package manifest holds service.json, the declaration of what the Go service
// offers. wirelab reads the same file before it starts the service.
package manifest

import _ "embed"

// JSON is the content of service.json.
//
//go:embed service.json
var JSON []byte

package service

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/store"
)

// Library is one row of the ready line's `libraries`.
type Library struct {
	Role    string `json:"role"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Roles of a library on the request path (docs/reference/process.md).
const (
	roleServer      = "server"
	roleCodec       = "codec"
	roleCompression = "compression"
	roleTLS         = "tls"
	roleStore       = "store"
)

// projectVersion is the version of wirelab: the linker sets it, as the build
// command of service.json states.
var projectVersion = "development"

// The packages on the request path, by axis; those of servers and codecs are in bindings.go.
var (
	compressions = map[string][]string{
		"none": {},
		"gzip": {"compress/gzip"},
		"zstd": {"github.com/klauspost/compress/zstd"},
		// By the library of WebSocket.
		"permessage-deflate": {"compress/flate"},
	}
	securities = map[string][]string{
		"none": {},
		"tls":  {"crypto/tls"},
		"mtls": {"crypto/tls"},
	}
)

// requestPath is what serves a stack on a kind of store, in the order of the roles;
// the versions are left out.
func requestPath(stack Stack, kind string) (rows []Library) {
	carried := bindings[stack.Binding]
	for _, part := range []struct {
		role  string
		names []string
	}{
		{roleServer, carried.servers},
		{roleCodec, carried.codecs(stack.Codec)},
		{roleCompression, compressions[stack.Compression]},
		{roleTLS, securities[stack.Security]},
		{roleStore, store.Libraries(kind)},
	} {
		for _, name := range part.names {
			rows = append(rows, Library{Role: part.role, Name: name})
		}
	}
	return rows
}

// libraries are those on the request path of a stack, with the versions of which
// this binary was built. It fails where the binary does not hold them.
func libraries(config *Config) ([]Library, error) {
	rows := requestPath(config.Stack, config.Store.Kind)
	for i := range rows {
		version, err := version(rows[i].Name)
		if err != nil {
			return nil, err
		}
		rows[i].Version = version
	}
	return rows, nil
}

// version of a package: its module's, or the runtime's where it is of the
// standard library, whose import paths begin with no domain.
func version(name string) (string, error) {
	domain, _, _ := strings.Cut(name, "/")
	switch {
	case name == codec.Own:
		return projectVersion, nil
	case !strings.Contains(domain, "."):
		return runtime.Version(), nil
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("this binary does not hold the versions of its modules: build it with go build")
	}
	for _, module := range build.Deps {
		if name == module.Path || strings.HasPrefix(name, module.Path+"/") {
			return plainVersion(module), nil
		}
	}
	return "", fmt.Errorf("no module of this binary has package %s: correct the table in libraries.go", name)
}

func plainVersion(module *debug.Module) string {
	version := module.Version
	if module.Replace != nil {
		version = module.Replace.Version
	}
	return strings.TrimPrefix(version, "v")
}

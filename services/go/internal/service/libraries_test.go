package service

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"wirelab/services/go/internal/codec"
	"wirelab/services/go/internal/store"
)

// tables are all packages that the ready line can name.
func tables() (names []string) {
	for _, table := range []map[string][]string{compressions, securities} {
		for _, packages := range table {
			names = append(names, packages...)
		}
	}
	for binding, carried := range bindings {
		names = append(names, carried.servers...)
		for _, name := range listCodecs(binding) {
			names = append(names, carried.codecs(name)...)
		}
	}
	for _, row := range codec.All("") {
		names = append(names, row.Libraries...)
	}
	for _, kind := range []string{"sqlite", "postgres"} {
		names = append(names, store.Libraries(kind)...)
	}
	return names
}

// TestEveryNamedPackageIsLinkedIn: a name that the service does not import is
// not on anybody's path.
func TestEveryNamedPackageIsLinkedIn(t *testing.T) {
	listed, err := exec.Command("go", "list", "-deps", "../../cmd/serve").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(listed))
	for _, name := range tables() {
		if name != codec.Own && !slices.Contains(linked, name) {
			t.Errorf("%s is named, but the service does not import it", name)
		}
	}
}

func TestAPackageThatIsNotInTheBinaryHasNoVersion(t *testing.T) {
	if got, err := version("example.org/absent"); err == nil {
		t.Errorf("a package that is not linked in has version %q", got)
	}
}

func TestRowsFollowTheStack(t *testing.T) {
	for name, row := range map[string]struct {
		stack Stack
		want  []string
	}{
		"REST, JSON": {Stack{Binding: "rest", Codec: "json", Compression: "none", Security: "none"},
			[]string{"server net/http", "codec encoding/json"}},
		"REST, text, all layers": {Stack{Binding: "rest", Codec: "text", Compression: "gzip", Security: "tls"},
			[]string{"server net/http", "codec lab's own", "compression compress/gzip", "tls crypto/tls"}},
		"SOAP": {Stack{Binding: "soap", Codec: "soap-rpc", Compression: "none", Security: "none"},
			[]string{"server net/http", "codec encoding/xml", "codec google.golang.org/protobuf/reflect/protoreflect",
				"codec lab's own"}},
		"Connect, JSON": {Stack{Binding: "connect", Codec: "json", Compression: "none", Security: "none"},
			[]string{"server connectrpc.com/connect", "server net/http",
				"codec google.golang.org/protobuf/encoding/protojson"}},
		"gRPC, zstd, mTLS": {Stack{Binding: "grpc", Codec: "protobuf", Compression: "zstd", Security: "mtls"},
			[]string{"server google.golang.org/grpc", "server golang.org/x/net/http2",
				"codec google.golang.org/protobuf/proto", "compression github.com/klauspost/compress/zstd",
				"tls crypto/tls"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, library := range requestPath(row.stack, "memory") {
				got = append(got, library.Role+" "+library.Name)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

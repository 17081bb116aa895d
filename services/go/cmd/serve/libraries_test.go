package main

import (
	"debug/buildinfo"
	"slices"
	"strings"
	"testing"
)

// library is a row of the ready line's `libraries`.
type library struct{ Role, Name, Version string }

// TestEveryStackNamesItsLibrariesByRole starts every binding, codec, compression
// and security of service.json.
func TestEveryStackNamesItsLibrariesByRole(t *testing.T) {
	authority := newAuthority(t)
	versions := buildVersions(t)
	for _, offer := range readManifest(t) {
		for _, codec := range offer.Codecs {
			for _, compression := range offer.Compression {
				for _, security := range offer.Security {
					config := offer.stack(codec, offer.Transports[0]).with("stack.compression", compression)
					if security != "none" {
						config = authority.configure(t, config, security)
					}
					p := start(t, config)
					checkRoles(t, config, p.Libraries)
					checkVersions(t, versions, p)
					stop(t, p)
				}
			}
		}
	}
}

// checkRoles: servers and codecs always, the others with their axes alone.
func checkRoles(t *testing.T, config options, rows []library) {
	t.Helper()
	want := []string{"server", "codec"}
	if config["stack.compression"] != "none" {
		want = append(want, "compression")
	}
	if security := config["stack.security"]; security != nil && security != "none" {
		want = append(want, "tls")
	}
	var got []string
	for _, row := range rows {
		got = append(got, row.Role)
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%v: roles %v, want %v", config, got, want)
	}
}

// checkVersions compares the ready line with the build information of the binary's file.
func checkVersions(t *testing.T, versions map[string]string, p *process) {
	t.Helper()
	for _, row := range p.Libraries {
		want := p.Runtime
		for module, version := range versions {
			if strings.HasPrefix(row.Name+"/", module+"/") {
				want = version
			}
		}
		if row.Name == "lab's own" {
			want = projectVersion
		}
		if row.Version != want {
			t.Errorf("%s has version %q, want %q", row.Name, row.Version, want)
		}
	}
}

// buildVersions returns the modules of the binary, without the v of their versions.
func buildVersions(t *testing.T) map[string]string {
	t.Helper()
	info, err := buildinfo.ReadFile(executable)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, module := range info.Deps {
		versions[module.Path] = strings.TrimPrefix(module.Version, "v")
	}
	return versions
}

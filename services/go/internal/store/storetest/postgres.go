// Package storetest starts databases for tests.
package storetest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

const binaries = "/usr/lib/postgresql/15/bin"

// Postgres is a server with a data directory and a socket of its own.
type Postgres struct {
	// URL of its database.
	URL       string
	directory string
	process   *syscall.SysProcAttr
}

// NewPostgres starts a server, which is stopped when the test ends; the test is
// skipped where PostgreSQL is not installed.
func NewPostgres(t *testing.T) *Postgres {
	t.Helper()
	if _, err := os.Stat(binaries); err != nil {
		t.Skipf("PostgreSQL is not installed: %v", err)
	}
	directory, err := os.MkdirTemp("/tmp", "wirelab-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	p := &Postgres{URL: "postgres://wirelab@/postgres?host=" + directory, directory: directory}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root.
		uid, gid := nobody(t)
		p.process = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(directory, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	p.run(t, "initdb", "-D", directory+"/data", "-U", "wirelab", "-A", "trust", "--no-sync")
	p.Start(t)
	t.Cleanup(func() { p.Stop(t) })
	return p
}

func nobody(t *testing.T) (uid, gid int) {
	t.Helper()
	account, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, uidErr := strconv.Atoi(account.Uid)
	gid, gidErr := strconv.Atoi(account.Gid)
	if uidErr != nil || gidErr != nil {
		t.Fatal(account)
	}
	return uid, gid
}

func (p *Postgres) run(t *testing.T, program string, arguments ...string) {
	t.Helper()
	command := exec.Command(filepath.Join(binaries, program), arguments...)
	command.Dir, command.SysProcAttr = p.directory, p.process
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}

// Start starts the server, also after Stop.
func (p *Postgres) Start(t *testing.T) {
	t.Helper()
	p.run(t, "pg_ctl", "-D", p.directory+"/data", "-w", "-l", p.directory+"/log",
		"-o", "-c listen_addresses='' -k "+p.directory, "start")
}

// Stop ends the server and all connections at once.
func (p *Postgres) Stop(t *testing.T) {
	t.Helper()
	p.run(t, "pg_ctl", "-D", p.directory+"/data", "-w", "-m", "immediate", "stop")
}

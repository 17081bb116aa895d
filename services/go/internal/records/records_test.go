package records

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/recordspb"
)

const timeout = 2 * time.Second

var alice = &pb.AllocateRequest{Name: "Alice", Id: 113_517, CourseCode: "CS31245"}

func sqliteSettings(t *testing.T) Settings {
	return Settings{Kind: "sqlite", URL: filepath.Join(t.TempDir(), "records.db"), Timeout: timeout}
}

func open(t *testing.T, settings Settings) Store {
	t.Helper()
	store, err := OpenDatabase(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// checkStore makes the calls of the contract on a store that has just started.
func checkStore(t *testing.T, store Store) {
	t.Helper()
	s := service{store}
	reply, err := s.allocate(alice)
	// Jagannathan (2022), figure 2.1.
	want := &pb.Team{Member1: "Alice", Member1Id: 113_517, Member2Id: 113_520,
		CourseCode: "CS31245", GroupId: 879_253}
	want.Member2 = "Derek"
	if err != nil || !proto.Equal(reply.GetTeamDetails(), want) {
		t.Fatalf("%v, %v, want %v", reply, err, want)
	}
	for _, group := range []*pb.Team{want, initialTeam(0), initialTeam(allocationRows - 1)} {
		found, err := s.find(&pb.FindAllocationRequest{GroupId: group.GroupId})
		if err != nil || !proto.Equal(found.GetTeamDetails(), group) {
			t.Errorf("%v, %v, want %v", found, err, group)
		}
	}
	for _, unknown := range []int32{-1 << 31, 0, groupFirst - 1, 879_254, 1<<31 - 1} {
		if _, err := s.find(&pb.FindAllocationRequest{GroupId: unknown}); err != ErrNoGroup {
			t.Errorf("group %d: %v", unknown, err)
		}
	}
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for range 10 {
				if _, err := s.allocate(alice); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if count, err := s.count(nil); err != nil || count.GetCount() != allocationRows+81 {
		t.Errorf("%v, %v", count, err)
	}
}

func TestMemory(t *testing.T) { checkStore(t, NewMemory()) }

func TestSQLiteIsResetWhenItIsOpened(t *testing.T) {
	settings := sqliteSettings(t)
	for range 2 {
		store, err := OpenDatabase(settings)
		if err != nil {
			t.Fatal(err)
		}
		checkStore(t, store)
		if err := store.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrorsInTheOrderOfTheContract(t *testing.T) {
	long := strings.Repeat("x", textBytesMax+1)
	for _, row := range []struct {
		request *pb.AllocateRequest
		want    error
	}{
		{&pb.AllocateRequest{}, ErrEmptyName},
		{&pb.AllocateRequest{Name: long}, ErrID},
		{&pb.AllocateRequest{Name: long, Id: 1}, ErrEmptyCourse},
		{&pb.AllocateRequest{Name: long, Id: 1, CourseCode: "c"}, ErrTextBytes},
		{&pb.AllocateRequest{Name: "n", Id: 1, CourseCode: long}, ErrTextBytes},
		{&pb.AllocateRequest{Name: "n", Id: 1<<31 - 1, CourseCode: long[1:]}, nil},
	} {
		if _, err := (service{NewMemory()}).allocate(row.request); err != row.want {
			t.Errorf("%v, want %v", err, row.want)
		}
	}
}

// TestAFullPoolIsAnErrorWithinTheTimeout holds the only connection.
func TestAFullPoolIsAnErrorWithinTheTimeout(t *testing.T) {
	settings := sqliteSettings(t)
	one := 1
	settings.Pool, settings.Timeout = &one, 100*time.Millisecond
	store := open(t, settings)
	held, err := store.(*database).pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if inUse, idle, ok := store.connections(); inUse != 1 || idle != 0 || !ok {
		t.Errorf("in use %d, idle %d", inUse, idle)
	}
	start := time.Now()
	if _, err := store.count(); err != contract.ErrUnavailable || time.Since(start) > timeout {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.count(); err != nil {
		t.Errorf("with a free connection: %v", err)
	}
}

const postgresBinaries = "/usr/lib/postgresql/15/bin"

// postgres is a server with a data directory and a socket of its own.
type postgres struct {
	directory string
	process   *syscall.SysProcAttr
}

func newPostgres(t *testing.T) *postgres {
	t.Helper()
	if _, err := os.Stat(postgresBinaries); err != nil {
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
	p := &postgres{directory: directory}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root.
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, uidErr := strconv.Atoi(nobody.Uid)
		gid, gidErr := strconv.Atoi(nobody.Gid)
		if uidErr != nil || gidErr != nil {
			t.Fatal(nobody)
		}
		p.process = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(directory, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	p.run(t, "initdb", "-D", directory+"/data", "-U", "wirelab", "-A", "trust", "--no-sync")
	return p
}

func (p *postgres) run(t *testing.T, program string, arguments ...string) {
	t.Helper()
	command := exec.Command(filepath.Join(postgresBinaries, program), arguments...)
	command.Dir, command.SysProcAttr = p.directory, p.process
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}

func (p *postgres) start(t *testing.T) {
	t.Helper()
	p.run(t, "pg_ctl", "-D", p.directory+"/data", "-w", "-l", p.directory+"/log",
		"-o", "-c listen_addresses='' -k "+p.directory, "start")
}

func (p *postgres) stop(t *testing.T) {
	t.Helper()
	p.run(t, "pg_ctl", "-D", p.directory+"/data", "-w", "-m", "immediate", "stop")
}

func TestPostgresIsResetAndRecovers(t *testing.T) {
	p := newPostgres(t)
	p.start(t)
	four := 4
	settings := Settings{Kind: "postgres", URL: "postgres://wirelab@/postgres?host=" + p.directory, Pool: &four,
		Timeout: timeout}
	for range 2 {
		checkStore(t, open(t, settings))
	}
	store := open(t, settings)
	s := service{store}
	p.stop(t)
	if _, err := s.allocate(alice); err != contract.ErrUnavailable {
		t.Errorf("without the database: %v", err)
	}
	p.start(t)
	defer p.stop(t)
	if reply, err := s.allocate(alice); err != nil {
		t.Errorf("with the database again: %v, %v", reply, err)
	}
}

package records

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/store"
	"wirelab/services/go/internal/store/storetest"
	pb "wirelab/services/go/recordspb"
)

const timeout = 2 * time.Second

var alice = &pb.AllocateRequest{Name: "Alice", Id: 113_517, CourseCode: "CS31245"}

func sqliteSettings(t *testing.T) store.Settings {
	return store.Settings{Kind: "sqlite", URL: filepath.Join(t.TempDir(), "records.db"), Timeout: timeout}
}

func open(t *testing.T, settings store.Settings) *database {
	t.Helper()
	tables, err := OpenDatabase(settings)
	if err != nil {
		t.Fatal(err)
	}
	opened := tables.(*database)
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// checkStore makes the calls of the contract on a store that has just started.
func checkStore(t *testing.T, tables Store) {
	t.Helper()
	s := service{tables}
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
		tables := open(t, settings)
		checkStore(t, tables)
		if err := tables.Close(); err != nil {
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
	tables := open(t, settings)
	var held *sql.Conn
	err := tables.Call(func(_ context.Context, pool *sql.DB) (err error) {
		held, err = pool.Conn(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if inUse, idle := tables.Connections(); inUse != 1 || idle != 0 {
		t.Errorf("in use %d, idle %d", inUse, idle)
	}
	start := time.Now()
	if _, err := tables.count(); err != contract.ErrUnavailable || time.Since(start) > timeout {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tables.count(); err != nil {
		t.Errorf("with a free connection: %v", err)
	}
}

// TestAllocateWaitsForTheTimeoutOnce: for a connection first, and then for a table that
// another one locks.
func TestAllocateWaitsForTheTimeoutOnce(t *testing.T) {
	settings := sqliteSettings(t)
	one := 1
	settings.Pool, settings.Timeout = &one, time.Second
	tables := open(t, settings)
	other, err := sql.Open("sqlite", "file:"+settings.URL+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = tables.Call(func(_ context.Context, pool *sql.DB) error {
		held, err := pool.Conn(t.Context())
		if err == nil {
			time.AfterFunc(settings.Timeout*8/10, func() { held.Close() })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = service{tables}.allocate(alice)
	if waited := time.Since(start); err != contract.ErrUnavailable || waited > settings.Timeout*3/2 {
		t.Errorf("%v after %v", err, waited)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := (service{tables}).allocate(alice); err != nil {
		t.Errorf("with the table free: %v", err)
	}
}

func TestPostgresIsResetAndRecovers(t *testing.T) {
	p := storetest.NewPostgres(t)
	four := 4
	settings := store.Settings{Kind: "postgres", URL: p.URL, Pool: &four,
		Timeout: timeout}
	for range 2 {
		checkStore(t, open(t, settings))
	}
	s := service{open(t, settings)}
	p.Stop(t)
	if _, err := s.allocate(alice); err != contract.ErrUnavailable {
		t.Errorf("without the database: %v", err)
	}
	p.Start(t)
	if reply, err := s.allocate(alice); err != nil {
		t.Errorf("with the database again: %v, %v", reply, err)
	}
}

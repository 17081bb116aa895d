package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver `pgx`
	_ "modernc.org/sqlite"             // driver `sqlite`

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/recordspb"
)

// Settings of a database.
type Settings struct {
	// Kind is `sqlite` or `postgres`.
	Kind string
	// URL of PostgreSQL, or the path of SQLite's file.
	URL string
	// Pool is the number of connections at most; nil: database/sql's default, no bound.
	Pool *int
	// Timeout of a call for a free connection and for the database.
	Timeout time.Duration
}

// resetTimeout bounds the making of the tables at the start.
const resetTimeout = 30 * time.Second

// dialect is what differs between the databases.
type dialect struct{ driver, partner, insert, find, count string }

const teamColumns = "groupid, member1, member2, member1id, member2id, coursecode"

var dialects = map[string]dialect{
	"sqlite": {
		driver:  "sqlite",
		partner: "SELECT name, id FROM partners WHERE number = ?",
		insert:  "INSERT INTO allocations (" + teamColumns + ") VALUES (?, ?, ?, ?, ?, ?)",
		find:    "SELECT " + teamColumns + " FROM allocations WHERE groupid = ?",
		count:   "SELECT count(*) FROM allocations",
	},
	"postgres": {
		driver:  "pgx",
		partner: "SELECT name, id FROM partners WHERE number = $1",
		insert:  "INSERT INTO allocations (" + teamColumns + ") VALUES ($1, $2, $3, $4, $5, $6)",
		find:    "SELECT " + teamColumns + " FROM allocations WHERE groupid = $1",
		count:   "SELECT count(*) FROM allocations",
	},
}

// Libraries are the packages of a kind of store, as the ready line names them.
func Libraries(kind string) []string {
	switch kind {
	case "sqlite":
		return []string{"modernc.org/sqlite", "database/sql"}
	case "postgres":
		return []string{"github.com/jackc/pgx/v5/stdlib", "database/sql"}
	}
	return nil
}

// database is a store behind database/sql.
type database struct {
	dialect
	pool    *sql.DB
	timeout time.Duration
	// group is the last one given: the service alone writes the table.
	group atomic.Int32
	// failing is true from a failed call to the next good one, so that an outage is
	// logged once.
	failing atomic.Bool
}

// OpenDatabase connects and makes both tables anew.
func OpenDatabase(settings Settings) (Store, error) {
	source := settings.URL
	if settings.Kind == "sqlite" {
		if err := removeSQLite(settings.URL); err != nil {
			return nil, err
		}
		// Writers wait for one another up to the timeout instead of failing at once.
		source = "file:" + (&url.URL{Path: settings.URL}).EscapedPath() + "?_pragma=journal_mode(WAL)" +
			"&_pragma=synchronous(FULL)&_txlock=immediate" +
			fmt.Sprintf("&_pragma=busy_timeout(%d)", settings.Timeout.Milliseconds())
	}
	d := &database{dialect: dialects[settings.Kind], timeout: settings.Timeout}
	pool, err := sql.Open(d.driver, source)
	if err != nil {
		return nil, err
	}
	d.pool = pool
	if settings.Pool != nil {
		pool.SetMaxOpenConns(*settings.Pool)
		pool.SetMaxIdleConns(*settings.Pool)
	}
	d.group.Store(groupFirst + allocationRows - 1)
	ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
	defer cancel()
	if err := d.reset(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return d, nil
}

// removeSQLite removes the file of an earlier service with its log and index.
func removeSQLite(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *database) reset(ctx context.Context) error {
	transaction, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = d.fill(ctx, transaction)
	if err != nil {
		return errors.Join(err, transaction.Rollback())
	}
	return transaction.Commit()
}

func (d *database) fill(ctx context.Context, into *sql.Tx) error {
	for _, statement := range []string{
		"DROP TABLE IF EXISTS partners",
		"DROP TABLE IF EXISTS allocations",
		"CREATE TABLE partners (number INTEGER PRIMARY KEY, name TEXT NOT NULL, id INTEGER NOT NULL)",
		"CREATE TABLE allocations (groupid INTEGER PRIMARY KEY, member1 TEXT NOT NULL, member2 TEXT NOT NULL, " +
			"member1id INTEGER NOT NULL, member2id INTEGER NOT NULL, coursecode TEXT NOT NULL)",
	} {
		if _, err := into.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var partners, teams []string
	for number := range int32(partnerRows) {
		row := initialPartner(number)
		partners = append(partners, fmt.Sprintf("(%d, '%s', %d)", number, row.name, row.id))
	}
	for n := range int32(allocationRows) {
		team := initialTeam(n)
		teams = append(teams, fmt.Sprintf("(%d, '%s', '%s', %d, %d, '%s')", team.GroupId, team.Member1, team.Member2,
			team.Member1Id, team.Member2Id, team.CourseCode))
	}
	_, err := into.ExecContext(ctx, "INSERT INTO partners (number, name, id) VALUES "+strings.Join(partners, ", "))
	if err != nil {
		return err
	}
	_, err = into.ExecContext(ctx, "INSERT INTO allocations ("+teamColumns+") VALUES "+strings.Join(teams, ", "))
	return err
}

// call bounds one statement, the wait for a connection included. Each is committed
// by itself before it returns.
func (d *database) call(statement func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
	defer cancel()
	err := statement(ctx)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		if d.failing.Load() {
			d.failing.Store(false)
		}
		return err
	}
	if d.failing.CompareAndSwap(false, true) {
		log.Printf("calls are answered with %q: %v", contract.ErrUnavailable, err)
	}
	return contract.ErrUnavailable
}

func (d *database) partner(number int32) (found partner, err error) {
	err = d.call(func(ctx context.Context) error {
		return d.pool.QueryRowContext(ctx, d.dialect.partner, number).Scan(&found.name, &found.id)
	})
	return found, err
}

func (d *database) insert(team *pb.Team) error {
	team.GroupId = d.group.Add(1)
	return d.call(func(ctx context.Context) error {
		_, err := d.pool.ExecContext(ctx, d.dialect.insert, team.GroupId, team.Member1, team.Member2,
			team.Member1Id, team.Member2Id, team.CourseCode)
		return err
	})
}

func (d *database) find(group int32) (*pb.Team, error) {
	team := &pb.Team{}
	err := d.call(func(ctx context.Context) error {
		return d.pool.QueryRowContext(ctx, d.dialect.find, group).Scan(&team.GroupId, &team.Member1, &team.Member2,
			&team.Member1Id, &team.Member2Id, &team.CourseCode)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return team, err
}

func (d *database) count() (rows int64, err error) {
	err = d.call(func(ctx context.Context) error {
		return d.pool.QueryRowContext(ctx, d.dialect.count).Scan(&rows)
	})
	return rows, err
}

func (d *database) connections() (inUse, idle int, ok bool) {
	stats := d.pool.Stats()
	return stats.InUse, stats.Idle, true
}

func (d *database) close() error { return d.pool.Close() }

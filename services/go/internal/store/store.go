// Package store opens the databases in which contracts keep rows, SQLite and
// PostgreSQL, through database/sql, and bounds what a call does there.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // driver `pgx`
	"modernc.org/sqlite"               // driver `sqlite`
	sqlite3 "modernc.org/sqlite/lib"

	"wirelab/services/go/internal/contract"
)

// Settings of a database.
type Settings struct {
	// Kind is `sqlite` or `postgres`.
	Kind string
	// URL of PostgreSQL, or the path of SQLite's file.
	URL string
	// Pool is the number of connections at most; nil: DefaultPool.
	Pool *int
	// Timeout of a call, for a free connection and for the database.
	Timeout time.Duration
}

// ErrReference reports that a row refers to one that does not exist.
var ErrReference = errors.New("foreign key violated")

// resetTimeout bounds the creation of the tables at the start.
const resetTimeout = 30 * time.Second

// foreignKeyViolation is PostgreSQL's SQLSTATE foreign_key_violation.
const foreignKeyViolation = "23503"

// DefaultPool is the number of connections where none is configured: the default of
// pgx's own pool. database/sql alone sets no bound, so that 100 simultaneous calls
// would exceed PostgreSQL's max_connections.
func DefaultPool() int { return max(4, runtime.NumCPU()) }

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

// Database is a pool of connections. Statements number their parameters `$1`, `$2`,
// which both databases read.
type Database struct {
	pool    *sql.DB
	timeout time.Duration
	// failing is true from a failed call to the next good one, so that an outage is
	// logged once.
	failing atomic.Bool
}

// Open connects, and creates the tables again by reset, in one transaction.
func Open(settings Settings, reset func(context.Context, *sql.Tx) error) (*Database, error) {
	driver, source := "pgx", settings.URL
	if settings.Kind == "sqlite" {
		if err := removeSQLite(settings.URL); err != nil {
			return nil, err
		}
		driver, source = "sqlite", sqliteSource(settings)
	}
	pool, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	size := DefaultPool()
	if settings.Pool != nil {
		size = *settings.Pool
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	ctx, cancel := context.WithTimeout(context.Background(), resetTimeout)
	defer cancel()
	err = transact(ctx, pool, func(transaction *sql.Tx) error { return reset(ctx, transaction) })
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &Database{pool: pool, timeout: settings.Timeout}, nil
}

// sqliteSource makes writers wait for one another up to the timeout instead of
// failing at once (busy_timeout), and take the write lock when a transaction begins,
// since a reader that becomes a writer does not wait.
func sqliteSource(settings Settings) string {
	return "file:" + (&url.URL{Path: settings.URL}).EscapedPath() + "?_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate" +
		fmt.Sprintf("&_pragma=busy_timeout(%d)", settings.Timeout.Milliseconds())
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

// Call bounds the statements of one call, the wait for a connection included. Each is
// committed by itself before it returns. Errors of the contract, sql.ErrNoRows and
// ErrReference are returned as they are; every other one is contract.ErrUnavailable.
func (d *Database) Call(statements func(context.Context, *sql.DB) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
	defer cancel()
	return d.translate(statements(ctx, d.pool))
}

// Transact is Call with statements of one transaction, committed when they succeed.
func (d *Database) Transact(statements func(context.Context, *sql.Tx) error) error {
	return d.Call(func(ctx context.Context, pool *sql.DB) error {
		return transact(ctx, pool, func(transaction *sql.Tx) error { return statements(ctx, transaction) })
	})
}

func transact(ctx context.Context, pool *sql.DB, statements func(*sql.Tx) error) error {
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := statements(transaction); err != nil {
		// The first error is the cause; rolling back a broken connection adds nothing.
		_ = transaction.Rollback()
		return err
	}
	return transaction.Commit()
}

func (d *Database) translate(err error) error {
	var application contract.ApplicationError
	reference := isReference(err)
	if err == nil || reference || errors.Is(err, sql.ErrNoRows) || errors.As(err, &application) {
		if d.failing.Load() {
			d.failing.Store(false)
		}
		if reference {
			return ErrReference
		}
		return err
	}
	if d.failing.CompareAndSwap(false, true) {
		log.Printf("calls are answered with %q: %v", contract.ErrUnavailable, err)
	}
	return contract.ErrUnavailable
}

func isReference(err error) bool {
	var ofPostgres *pgconn.PgError
	var ofSQLite *sqlite.Error
	return errors.As(err, &ofPostgres) && ofPostgres.Code == foreignKeyViolation ||
		errors.As(err, &ofSQLite) && ofSQLite.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
}

// Connections are those of the pool in use and idle now.
func (d *Database) Connections() (inUse, idle int) {
	stats := d.pool.Stats()
	return stats.InUse, stats.Idle
}

// Close closes the pool.
func (d *Database) Close() error { return d.pool.Close() }

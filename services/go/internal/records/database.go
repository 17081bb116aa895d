package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"wirelab/services/go/internal/store"
	pb "wirelab/services/go/recordspb"
)

const teamColumns = "groupid, member1, member2, member1id, member2id, coursecode"

// database keeps the tables in SQLite or PostgreSQL.
type database struct {
	*store.Database
	// group is the last one given: the service alone writes the table.
	group atomic.Int32
}

// OpenDatabase connects and creates both tables again.
func OpenDatabase(settings store.Settings) (Store, error) {
	opened, err := store.Open(settings, fill)
	if err != nil {
		return nil, err
	}
	d := &database{Database: opened}
	d.group.Store(groupFirst + allocationRows - 1)
	return d, nil
}

func fill(ctx context.Context, into *sql.Tx) error {
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
	for _, statement := range []string{
		"DROP TABLE IF EXISTS partners",
		"DROP TABLE IF EXISTS allocations",
		"CREATE TABLE partners (number INTEGER PRIMARY KEY, name TEXT NOT NULL, id INTEGER NOT NULL)",
		"CREATE TABLE allocations (groupid INTEGER PRIMARY KEY, member1 TEXT NOT NULL, member2 TEXT NOT NULL, " +
			"member1id INTEGER NOT NULL, member2id INTEGER NOT NULL, coursecode TEXT NOT NULL)",
		"INSERT INTO partners (number, name, id) VALUES " + strings.Join(partners, ", "),
		"INSERT INTO allocations (" + teamColumns + ") VALUES " + strings.Join(teams, ", "),
	} {
		if _, err := into.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// allocate makes both statements one call: with a timeout for each, a caller could wait twice
// as long as the configuration says.
func (d *database) allocate(team *pb.Team, number int32) error {
	team.GroupId = d.group.Add(1)
	return d.Call(func(ctx context.Context, pool *sql.DB) error {
		err := pool.QueryRowContext(ctx, "SELECT name, id FROM partners WHERE number = $1", number).
			Scan(&team.Member2, &team.Member2Id)
		if err != nil {
			return err
		}
		_, err = pool.ExecContext(ctx, "INSERT INTO allocations ("+teamColumns+") VALUES ($1, $2, $3, $4, $5, $6)",
			team.GroupId, team.Member1, team.Member2, team.Member1Id, team.Member2Id, team.CourseCode)
		return err
	})
}

func (d *database) find(group int32) (*pb.Team, error) {
	team := &pb.Team{}
	err := d.Call(func(ctx context.Context, pool *sql.DB) error {
		return pool.QueryRowContext(ctx, "SELECT "+teamColumns+" FROM allocations WHERE groupid = $1", group).
			Scan(&team.GroupId, &team.Member1, &team.Member2, &team.Member1Id, &team.Member2Id, &team.CourseCode)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return team, err
}

func (d *database) count() (rows int64, err error) {
	err = d.Call(func(ctx context.Context, pool *sql.DB) error {
		return pool.QueryRowContext(ctx, "SELECT count(*) FROM allocations").Scan(&rows)
	})
	return rows, err
}

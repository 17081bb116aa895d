package petclinic

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/store"
	pb "wirelab/services/go/petclinicpb"
)

// tableNames are the names in SQL.
var tableNames = [tableCount]string{petTypes: "types", specialties: "specialties", vets: "vets", owners: "owners",
	pets: "pets", visits: "visits"}

// schema drops tables before those that they refer to, and creates them after those.
var schema = []string{
	"DROP TABLE IF EXISTS visits",
	"DROP TABLE IF EXISTS pets",
	"DROP TABLE IF EXISTS owners",
	"DROP TABLE IF EXISTS vet_specialties",
	"DROP TABLE IF EXISTS vets",
	"DROP TABLE IF EXISTS specialties",
	"DROP TABLE IF EXISTS types",
	"CREATE TABLE types (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
	"CREATE TABLE specialties (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
	"CREATE TABLE vets (id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL)",
	"CREATE TABLE vet_specialties (vet_id INTEGER NOT NULL REFERENCES vets ON DELETE CASCADE, " +
		"specialty_id INTEGER NOT NULL REFERENCES specialties ON DELETE CASCADE, PRIMARY KEY (vet_id, specialty_id))",
	"CREATE INDEX vet_specialties_specialty ON vet_specialties (specialty_id)",
	"CREATE TABLE owners (id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, " +
		"address TEXT NOT NULL, city TEXT NOT NULL, telephone TEXT NOT NULL)",
	"CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, birth_date TEXT NOT NULL, " +
		"type_id INTEGER NOT NULL REFERENCES types ON DELETE CASCADE, " +
		"owner_id INTEGER NOT NULL REFERENCES owners ON DELETE CASCADE)",
	"CREATE INDEX pets_type ON pets (type_id)",
	"CREATE INDEX pets_owner ON pets (owner_id)",
	"CREATE TABLE visits (id INTEGER PRIMARY KEY, pet_id INTEGER NOT NULL REFERENCES pets ON DELETE CASCADE, " +
		"visit_date TEXT NOT NULL, description TEXT NOT NULL)",
	"CREATE INDEX visits_pet ON visits (pet_id)",
}

const (
	insertVet       = "INSERT INTO vets (id, first_name, last_name) VALUES ($1, $2, $3)"
	insertSpecialty = "INSERT INTO vet_specialties (vet_id, specialty_id) VALUES ($1, $2)"
	insertOwner     = "INSERT INTO owners (id, first_name, last_name, address, city, telephone) " +
		"VALUES ($1, $2, $3, $4, $5, $6)"
	insertPet   = "INSERT INTO pets (id, name, birth_date, type_id, owner_id) VALUES ($1, $2, $3, $4, $5)"
	insertVisit = "INSERT INTO visits (id, pet_id, visit_date, description) VALUES ($1, $2, $3, $4)"
)

func insertName(to table) string {
	return "INSERT INTO " + tableNames[to] + " (id, name) VALUES ($1, $2)"
}

// database keeps the tables in SQLite or PostgreSQL. Deletions cascade there.
type database struct {
	*store.Database
	// last are the ids given last: the service alone writes the tables.
	last [tableCount]atomic.Int32
}

// OpenDatabase connects and creates the tables again, with the rows at the start.
func OpenDatabase(settings store.Settings) (Store, error) {
	opened, err := store.Open(settings, fill)
	if err != nil {
		return nil, err
	}
	d := &database{Database: opened}
	for kind, rows := range [tableCount]int{petTypes: len(seedPetTypes), specialties: len(seedSpecialties),
		vets: len(seedVets), owners: len(seedOwners), pets: len(seedPets), visits: len(seedVisits)} {
		d.last[kind].Store(int32(rows))
	}
	return d, nil
}

func fill(ctx context.Context, into *sql.Tx) (err error) {
	run := func(statement string, parameters ...any) {
		if err == nil {
			_, err = into.ExecContext(ctx, statement, parameters...)
		}
	}
	for _, statement := range schema {
		run(statement)
	}
	for i, name := range seedPetTypes {
		run(insertName(petTypes), i+1, name)
	}
	for i, name := range seedSpecialties {
		run(insertName(specialties), i+1, name)
	}
	for i, vet := range seedVets {
		run(insertVet, i+1, vet.firstName, vet.lastName)
		for _, specialty := range vet.specialties {
			run(insertSpecialty, i+1, specialty)
		}
	}
	for i, owner := range seedOwners {
		run(insertOwner, i+1, owner.firstName, owner.lastName, owner.address, owner.city, owner.telephone)
	}
	for i, pet := range seedPets {
		run(insertPet, i+1, pet.name, pet.birthDate, pet.petType, pet.owner)
	}
	for i, visit := range seedVisits {
		run(insertVisit, i+1, visit.pet, visit.date, visit.description)
	}
	return err
}

// execute runs one statement, and returns none where no row was changed by it.
func (d *database) execute(none error, statement string, parameters ...any) error {
	err := d.Call(func(ctx context.Context, pool *sql.DB) error {
		return checkChanged(none)(pool.ExecContext(ctx, statement, parameters...))
	})
	return invalidReference(err)
}

// checkChanged returns none where a statement changed no row.
func checkChanged(none error) func(sql.Result, error) error {
	return func(result sql.Result, err error) error {
		if err != nil {
			return err
		}
		count, err := result.RowsAffected()
		if err == nil && count == 0 {
			err = none
		}
		return err
	}
}

// invalidReference: a row that another one refers to does not exist.
func invalidReference(err error) error {
	if errors.Is(err, store.ErrReference) {
		return contract.ErrInvalid
	}
	return err
}

// query reads every row of a statement; scan names the places of the columns.
func query[T any](ctx context.Context, pool *sql.DB, scan func(*T) []any, statement string, parameters ...any) (found []*T, err error) {
	rows, err := pool.QueryContext(ctx, statement, parameters...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		value := new(T)
		if err := rows.Scan(scan(value)...); err != nil {
			return nil, err
		}
		found = append(found, value)
	}
	return found, rows.Err()
}

// condition is a WHERE clause with its parameters.
type condition struct {
	where      string
	parameters []any
}

// selectByColumn selects the rows with an id, or all rows for 0.
func selectByColumn(column string, id int32) condition {
	if id == 0 {
		return condition{}
	}
	return condition{" WHERE " + column + " = $1", []any{id}}
}

func (d *database) names(of table, id int32) (found []named, _ error) {
	which := selectByColumn("id", id)
	err := d.Call(func(ctx context.Context, pool *sql.DB) error {
		rows, err := query(ctx, pool, func(row *named) []any { return []any{&row.id, &row.name} },
			"SELECT id, name FROM "+tableNames[of]+which.where+" ORDER BY id", which.parameters...)
		for _, row := range rows {
			found = append(found, *row)
		}
		return err
	})
	return found, err
}

func (d *database) addName(to table, name string) (int32, error) {
	id := d.last[to].Add(1)
	return id, d.execute(nil, insertName(to), id, name)
}

func (d *database) rename(in table, id int32, name string) error {
	return d.execute(contract.ErrNotFound, "UPDATE "+tableNames[in]+" SET name = $2 WHERE id = $1", id, name)
}

func (d *database) remove(from table, id int32) error {
	return d.execute(contract.ErrNotFound, "DELETE FROM "+tableNames[from]+" WHERE id = $1", id)
}

// vetSpecialty is a row of vet_specialties with its specialty's name.
type vetSpecialty struct {
	vet int32
	named
}

func (d *database) vets(id int32) (found []*pb.Vet, _ error) {
	err := d.Call(func(ctx context.Context, pool *sql.DB) (err error) {
		which := selectByColumn("id", id)
		found, err = query(ctx, pool, func(v *pb.Vet) []any { return []any{&v.Id, &v.FirstName, &v.LastName} },
			"SELECT id, first_name, last_name FROM vets"+which.where+" ORDER BY id", which.parameters...)
		if err != nil || len(found) == 0 {
			return err
		}
		which = selectByColumn("v.vet_id", id)
		rows, err := query(ctx, pool, func(row *vetSpecialty) []any { return []any{&row.vet, &row.id, &row.name} },
			"SELECT v.vet_id, s.id, s.name FROM vet_specialties v JOIN specialties s ON s.id = v.specialty_id"+which.where,
			which.parameters...)
		of := map[int32][]*pb.Specialty{}
		for _, row := range rows {
			of[row.vet] = append(of[row.vet], &pb.Specialty{Id: row.id, Name: row.name})
		}
		for _, vet := range found {
			vet.Specialties = append([]*pb.Specialty{}, of[vet.Id]...)
			sortSpecialties(vet.Specialties)
		}
		return err
	})
	return found, err
}

func (d *database) addVet(firstName, lastName string, specialties []int32) (int32, error) {
	id := d.last[vets].Add(1)
	err := d.Transact(func(ctx context.Context, transaction *sql.Tx) error {
		if _, err := transaction.ExecContext(ctx, insertVet, id, firstName, lastName); err != nil {
			return err
		}
		return insertSpecialties(ctx, transaction, id, specialties)
	})
	return id, invalidReference(err)
}

func (d *database) updateVet(id int32, firstName, lastName string, specialties []int32) error {
	err := d.Transact(func(ctx context.Context, transaction *sql.Tx) error {
		err := checkChanged(contract.ErrNotFound)(transaction.ExecContext(ctx,
			"UPDATE vets SET first_name = $2, last_name = $3 WHERE id = $1", id, firstName, lastName))
		if err != nil {
			return err
		}
		if _, err := transaction.ExecContext(ctx, "DELETE FROM vet_specialties WHERE vet_id = $1", id); err != nil {
			return err
		}
		return insertSpecialties(ctx, transaction, id, specialties)
	})
	return invalidReference(err)
}

func insertSpecialties(ctx context.Context, into *sql.Tx, vet int32, specialties []int32) error {
	for _, specialty := range specialties {
		if _, err := into.ExecContext(ctx, insertSpecialty, vet, specialty); err != nil {
			return err
		}
	}
	return nil
}

// ownersWhere selects owners `o`. The prefix is compared as it is: LIKE gives `%` and
// `_` a meaning, and in SQLite takes no account of case.
func ownersWhere(id int32, lastName string) condition {
	if lastName == "" {
		return selectByColumn("o.id", id)
	}
	return condition{" WHERE substr(o.last_name, 1, length(CAST($1 AS TEXT))) = CAST($1 AS TEXT)", []any{lastName}}
}

func (d *database) owners(id int32, lastName string) (found []*pb.Owner, _ error) {
	which := ownersWhere(id, lastName)
	err := d.Call(func(ctx context.Context, pool *sql.DB) (err error) {
		found, err = query(ctx, pool, func(o *pb.Owner) []any {
			return []any{&o.Id, &o.FirstName, &o.LastName, &o.Address, &o.City, &o.Telephone}
		}, "SELECT o.id, o.first_name, o.last_name, o.address, o.city, o.telephone FROM owners o"+which.where+
			" ORDER BY o.id", which.parameters...)
		if err != nil || len(found) == 0 {
			return err
		}
		all, err := d.selectPets(ctx, pool, which)
		of := map[int32][]*pb.Pet{}
		for _, pet := range all {
			of[pet.OwnerId] = append(of[pet.OwnerId], pet)
		}
		for _, owner := range found {
			owner.Pets = append([]*pb.Pet{}, of[owner.Id]...)
			sortPets(owner.Pets)
		}
		return err
	})
	return found, err
}

func (d *database) addOwner(owner *pb.Owner) (int32, error) {
	id := d.last[owners].Add(1)
	return id, d.execute(nil, insertOwner, id, owner.FirstName, owner.LastName, owner.Address, owner.City,
		owner.Telephone)
}

func (d *database) updateOwner(owner *pb.Owner) error {
	return d.execute(contract.ErrNotFound, "UPDATE owners SET first_name = $2, last_name = $3, address = $4, "+
		"city = $5, telephone = $6 WHERE id = $1", owner.Id, owner.FirstName, owner.LastName, owner.Address,
		owner.City, owner.Telephone)
}

// exists is contract.ErrNotFound where a statement has no row.
func (d *database) exists(statement string, parameters ...any) error {
	err := d.Call(func(ctx context.Context, pool *sql.DB) error {
		var one int
		return pool.QueryRowContext(ctx, statement, parameters...).Scan(&one)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return contract.ErrNotFound
	}
	return err
}

func (d *database) checkOwner(id int32) error {
	return d.exists("SELECT 1 FROM owners WHERE id = $1", id)
}

func (d *database) checkPet(id, owner int32) error {
	return d.exists("SELECT 1 FROM pets WHERE id = $1 AND owner_id = $2", id, owner)
}

// selectPets reads the pets `p` of owners `o` with their visits.
func (d *database) selectPets(ctx context.Context, pool *sql.DB, which condition) ([]*pb.Pet, error) {
	found, err := query(ctx, pool, func(p *pb.Pet) []any {
		p.Type, p.Visits = &pb.PetType{}, []*pb.Visit{}
		return []any{&p.Id, &p.Name, &p.BirthDate, &p.Type.Id, &p.Type.Name, &p.OwnerId}
	}, "SELECT p.id, p.name, p.birth_date, t.id, t.name, p.owner_id FROM pets p JOIN types t ON t.id = p.type_id "+
		"JOIN owners o ON o.id = p.owner_id"+which.where+" ORDER BY p.id", which.parameters...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	all, err := query(ctx, pool, scanVisit, "SELECT v.id, v.visit_date, v.description, v.pet_id FROM visits v "+
		"JOIN pets p ON p.id = v.pet_id JOIN owners o ON o.id = p.owner_id"+which.where+" ORDER BY v.id",
		which.parameters...)
	of := make(map[int32]*pb.Pet, len(found))
	for _, pet := range found {
		of[pet.Id] = pet
	}
	for _, visit := range all {
		if pet := of[visit.PetId]; pet != nil {
			pet.Visits = append(pet.Visits, visit)
		}
	}
	return found, err
}

func scanVisit(v *pb.Visit) []any { return []any{&v.Id, &v.Date, &v.Description, &v.PetId} }

func (d *database) pets(id, owner int32) (found []*pb.Pet, _ error) {
	which := selectByColumn("p.id", id)
	if owner != 0 {
		which = condition{" WHERE p.id = $1 AND o.id = $2", []any{id, owner}}
	}
	err := d.Call(func(ctx context.Context, pool *sql.DB) (err error) {
		found, err = d.selectPets(ctx, pool, which)
		return err
	})
	return found, err
}

func (d *database) addPet(name, birthDate string, petType, owner int32) (id int32, typeName string, err error) {
	id = d.last[pets].Add(1)
	err = d.Call(func(ctx context.Context, pool *sql.DB) error {
		// The reply has the type's name; the foreign key alone keeps the reference.
		err := pool.QueryRowContext(ctx, "SELECT name FROM types WHERE id = $1", petType).Scan(&typeName)
		if errors.Is(err, sql.ErrNoRows) {
			return contract.ErrInvalid
		}
		if err != nil {
			return err
		}
		_, err = pool.ExecContext(ctx, insertPet, id, name, birthDate, petType, owner)
		return err
	})
	return id, typeName, invalidReference(err)
}

func (d *database) updatePet(id int32, name, birthDate string, petType int32) error {
	return d.execute(contract.ErrNotFound, "UPDATE pets SET name = $2, birth_date = $3, type_id = $4 WHERE id = $1",
		id, name, birthDate, petType)
}

func (d *database) visits(id int32) (found []*pb.Visit, _ error) {
	which := selectByColumn("id", id)
	err := d.Call(func(ctx context.Context, pool *sql.DB) (err error) {
		found, err = query(ctx, pool, scanVisit, "SELECT id, visit_date, description, pet_id FROM visits"+
			which.where+" ORDER BY id", which.parameters...)
		return err
	})
	return found, err
}

func (d *database) addVisit(date, description string, pet int32) (int32, error) {
	id := d.last[visits].Add(1)
	return id, d.execute(nil, insertVisit, id, pet, date, description)
}

func (d *database) updateVisit(id int32, date, description string) error {
	return d.execute(contract.ErrNotFound, "UPDATE visits SET visit_date = $2, description = $3 WHERE id = $1",
		id, date, description)
}

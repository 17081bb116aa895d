package petclinic

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/petclinicpb"
)

// rowsMax bounds a table in memory.
const rowsMax = 1_000_000

// rows is a table in the order of its ids, which count up and are never given twice.
type rows[T any] struct {
	all  []row[T]
	last int32
}

type row[T any] struct {
	id    int32
	value T
}

func (r *rows[T]) index(id int32) (int, bool) {
	return slices.BinarySearchFunc(r.all, id, func(row row[T], id int32) int { return cmp.Compare(row.id, id) })
}

func (r *rows[T]) find(id int32) (value *T, err error) {
	at, found := r.index(id)
	if !found {
		return nil, contract.ErrNotFound
	}
	return &r.all[at].value, nil
}

// findReference is like find, for a row that another one names.
func (r *rows[T]) findReference(id int32) (*T, error) {
	value, err := r.find(id)
	if err != nil {
		return nil, contract.ErrInvalid
	}
	return value, nil
}

func (r *rows[T]) add(value T) (int32, error) {
	if len(r.all) >= rowsMax || r.last == math.MaxInt32 {
		return 0, contract.ErrInvalid
	}
	r.last++
	r.all = append(r.all, row[T]{r.last, value})
	return r.last, nil
}

func (r *rows[T]) remove(id int32) (removed T, err error) {
	at, found := r.index(id)
	if !found {
		return removed, contract.ErrNotFound
	}
	removed = r.all[at].value
	r.all = slices.Delete(r.all, at, at+1)
	return removed, nil
}

// selectRows returns the rows of an id, or all rows for 0.
func (r *rows[T]) selectRows(id int32) []row[T] {
	if id == 0 {
		return r.all
	}
	at, found := r.index(id)
	if !found {
		return nil
	}
	return r.all[at : at+1]
}

type vetRow struct {
	firstName, lastName string
	specialties         []int32
}

// ownerRow has its pets by id.
type ownerRow struct {
	*pb.Owner
	pets []int32
}

type petRow struct {
	name, birthDate string
	petType, owner  int32
	visits          []int32
}

// memory keeps the tables without a database. Messages in it are replaced, not changed.
type memory struct {
	lock      sync.RWMutex
	named     [2]rows[string] // petTypes, specialties
	vetRows   rows[vetRow]
	ownerRows rows[ownerRow]
	petRows   rows[petRow]
	visitRows rows[*pb.Visit]
}

// NewMemory is a store without a database, with the rows at the start.
func NewMemory() Store {
	m := &memory{}
	for kind, names := range [][]string{petTypes: seedPetTypes, specialties: seedSpecialties} {
		for _, name := range names {
			must(m.named[kind].add(name))
		}
	}
	for _, vet := range seedVets {
		must(m.addVet(vet.firstName, vet.lastName, vet.specialties))
	}
	for _, owner := range seedOwners {
		must(m.addOwner(&pb.Owner{FirstName: owner.firstName, LastName: owner.lastName, Address: owner.address,
			City: owner.city, Telephone: owner.telephone}))
	}
	for _, pet := range seedPets {
		id, _, err := m.addPet(pet.name, pet.birthDate, pet.petType, pet.owner)
		must(id, err)
	}
	for _, visit := range seedVisits {
		must(m.addVisit(visit.date, visit.description, visit.pet))
	}
	return m
}

// must: the rows at the start refer to one another.
func must(_ int32, err error) {
	if err != nil {
		panic(err)
	}
}

func (m *memory) names(of table, id int32) (found []named, _ error) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	for _, row := range m.named[of].selectRows(id) {
		found = append(found, named{row.id, row.value})
	}
	return found, nil
}

func (m *memory) addName(to table, name string) (int32, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.named[to].add(name)
}

func (m *memory) rename(in table, id int32, name string) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	row, err := m.named[in].find(id)
	if err == nil {
		*row = name
	}
	return err
}

func (m *memory) remove(from table, id int32) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	switch from {
	case petTypes:
		return m.removePetType(id)
	case specialties:
		_, err := m.named[specialties].remove(id)
		for i := range m.vetRows.all {
			vet := &m.vetRows.all[i].value
			vet.specialties = removeID(vet.specialties, id)
		}
		return err
	case vets:
		_, err := m.vetRows.remove(id)
		return err
	case owners:
		owner, err := m.ownerRows.remove(id)
		for _, pet := range owner.pets {
			m.removePet(pet)
		}
		return err
	case pets:
		row, err := m.petRows.find(id)
		if err != nil {
			return err
		}
		owner, _ := m.ownerRows.find(row.owner)
		owner.pets = removeID(owner.pets, id)
		m.removePet(id)
		return nil
	}
	visit, err := m.visitRows.remove(id)
	if err != nil {
		return err
	}
	pet, _ := m.petRows.find(visit.PetId)
	pet.visits = removeID(pet.visits, id)
	return nil
}

func (m *memory) removePetType(id int32) error {
	if _, err := m.named[petTypes].remove(id); err != nil {
		return err
	}
	for i := len(m.petRows.all) - 1; i >= 0; i-- {
		pet := m.petRows.all[i]
		if pet.value.petType == id {
			owner, _ := m.ownerRows.find(pet.value.owner)
			owner.pets = removeID(owner.pets, pet.id)
			m.removePet(pet.id)
		}
	}
	return nil
}

// removePet removes a pet with its visits, but not from its owner.
func (m *memory) removePet(id int32) {
	pet, err := m.petRows.remove(id)
	if err != nil {
		panic(err) // owners and types have pets that exist
	}
	for _, visit := range pet.visits {
		if _, err := m.visitRows.remove(visit); err != nil {
			panic(err)
		}
	}
}

func removeID(ids []int32, id int32) []int32 {
	return slices.DeleteFunc(ids, func(other int32) bool { return other == id })
}

func (m *memory) vets(id int32) (found []*pb.Vet, _ error) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	for _, row := range m.vetRows.selectRows(id) {
		vet := &pb.Vet{Id: row.id, FirstName: row.value.firstName, LastName: row.value.lastName,
			Specialties: []*pb.Specialty{}}
		for _, id := range row.value.specialties {
			name, _ := m.named[specialties].find(id)
			vet.Specialties = append(vet.Specialties, &pb.Specialty{Id: id, Name: *name})
		}
		sortSpecialties(vet.Specialties)
		found = append(found, vet)
	}
	return found, nil
}

func (m *memory) checkSpecialties(ids []int32) error {
	for _, id := range ids {
		if _, err := m.named[specialties].findReference(id); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) addVet(firstName, lastName string, ids []int32) (int32, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if err := m.checkSpecialties(ids); err != nil {
		return 0, err
	}
	return m.vetRows.add(vetRow{firstName, lastName, slices.Clone(ids)})
}

func (m *memory) updateVet(id int32, firstName, lastName string, ids []int32) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	row, err := m.vetRows.find(id)
	if err != nil {
		return err
	}
	if err := m.checkSpecialties(ids); err != nil {
		return err
	}
	*row = vetRow{firstName, lastName, slices.Clone(ids)}
	return nil
}

func (m *memory) owners(id int32, lastName string) (found []*pb.Owner, _ error) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	for _, row := range m.ownerRows.selectRows(id) {
		of := row.value
		if !strings.HasPrefix(of.LastName, lastName) {
			continue
		}
		owner := &pb.Owner{Id: row.id, FirstName: of.FirstName, LastName: of.LastName, Address: of.Address,
			City: of.City, Telephone: of.Telephone, Pets: []*pb.Pet{}}
		for _, pet := range of.pets {
			owner.Pets = append(owner.Pets, m.pet(pet))
		}
		sortPets(owner.Pets)
		found = append(found, owner)
	}
	return found, nil
}

func (m *memory) addOwner(owner *pb.Owner) (int32, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.ownerRows.add(ownerRow{Owner: owner})
}

func (m *memory) updateOwner(owner *pb.Owner) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	row, err := m.ownerRows.find(owner.Id)
	if err == nil {
		row.Owner = owner
	}
	return err
}

func (m *memory) checkOwner(id int32) error {
	m.lock.RLock()
	defer m.lock.RUnlock()
	_, err := m.ownerRows.find(id)
	return err
}

// pet is a pet that exists.
func (m *memory) pet(id int32) *pb.Pet {
	row, _ := m.petRows.find(id)
	name, _ := m.named[petTypes].find(row.petType)
	pet := &pb.Pet{Id: id, Name: row.name, BirthDate: row.birthDate,
		Type: &pb.PetType{Id: row.petType, Name: *name}, OwnerId: row.owner, Visits: []*pb.Visit{}}
	for _, id := range row.visits {
		visit, _ := m.visitRows.find(id)
		pet.Visits = append(pet.Visits, *visit)
	}
	return pet
}

func (m *memory) pets(id, owner int32) (found []*pb.Pet, _ error) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	for _, row := range m.petRows.selectRows(id) {
		if owner == 0 || row.value.owner == owner {
			found = append(found, m.pet(row.id))
		}
	}
	return found, nil
}

func (m *memory) addPet(name, birthDate string, petType, owner int32) (id int32, typeName string, err error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	typeRow, err := m.named[petTypes].findReference(petType)
	if err != nil {
		return 0, "", err
	}
	of, err := m.ownerRows.findReference(owner)
	if err != nil {
		return 0, "", err
	}
	id, err = m.petRows.add(petRow{name: name, birthDate: birthDate, petType: petType, owner: owner})
	if err == nil {
		of.pets = append(of.pets, id)
	}
	return id, *typeRow, err
}

func (m *memory) updatePet(id int32, name, birthDate string, petType int32) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	row, err := m.petRows.find(id)
	if err != nil {
		return err
	}
	if _, err := m.named[petTypes].findReference(petType); err != nil {
		return err
	}
	row.name, row.birthDate, row.petType = name, birthDate, petType
	return nil
}

func (m *memory) checkPet(id, owner int32) error {
	m.lock.RLock()
	defer m.lock.RUnlock()
	row, err := m.petRows.find(id)
	if err == nil && row.owner != owner {
		err = contract.ErrNotFound
	}
	return err
}

func (m *memory) visits(id int32) (found []*pb.Visit, _ error) {
	m.lock.RLock()
	defer m.lock.RUnlock()
	for _, row := range m.visitRows.selectRows(id) {
		found = append(found, row.value)
	}
	return found, nil
}

func (m *memory) addVisit(date, description string, pet int32) (int32, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	of, err := m.petRows.findReference(pet)
	if err != nil {
		return 0, err
	}
	visit := &pb.Visit{Date: date, Description: description, PetId: pet}
	id, err := m.visitRows.add(visit)
	if err != nil {
		return 0, err
	}
	visit.Id = id
	of.visits = append(of.visits, id)
	return id, nil
}

func (m *memory) updateVisit(id int32, date, description string) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	row, err := m.visitRows.find(id)
	if err == nil {
		*row = &pb.Visit{Id: id, Date: date, Description: description, PetId: (*row).PetId}
	}
	return err
}

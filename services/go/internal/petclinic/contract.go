// Package petclinic is the contract `petclinic` without a wire: the 33 operations of
// the Spring PetClinic REST application, on tables in memory or in a database.
// contracts/README.md is its definition.
package petclinic

import (
	"cmp"
	"encoding/json"
	"slices"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/petclinicpb"
)

// table is a kind of row.
type table int

const (
	petTypes table = iota
	specialties
	vets
	owners
	pets
	visits
	tableCount
)

// findName returns a row of the tables of pet types and specialties.
type named struct {
	id   int32
	name string
}

// Store keeps the tables. Ids are positive; where a method takes 0, it means every
// row. Methods return contract.ErrNotFound where the row itself does not exist, and
// contract.ErrInvalid where one that it refers to does not. Messages that are handed
// in or out are not changed afterwards.
type Store interface {
	// names are the rows of pet types or specialties, by id.
	names(of table, id int32) ([]named, error)
	addName(to table, name string) (int32, error)
	rename(in table, id int32, name string) error
	// remove deletes a row with the rows that belong to it.
	remove(from table, id int32) error

	vets(id int32) ([]*pb.Vet, error)
	addVet(firstName, lastName string, specialties []int32) (int32, error)
	updateVet(id int32, firstName, lastName string, specialties []int32) error

	// owners are those whose last name begins with lastName.
	owners(id int32, lastName string) ([]*pb.Owner, error)
	addOwner(owner *pb.Owner) (int32, error)
	updateOwner(owner *pb.Owner) error
	checkOwner(id int32) error

	// pets are those of an owner.
	pets(id, owner int32) ([]*pb.Pet, error)
	// addPet returns the new id and the name of the type.
	addPet(name, birthDate string, petType, owner int32) (id int32, typeName string, err error)
	updatePet(id int32, name, birthDate string, petType int32) error
	// checkPet checks that the pet is the owner's.
	checkPet(id, owner int32) error

	visits(id int32) ([]*pb.Visit, error)
	addVisit(date, description string, pet int32) (int32, error)
	updateVisit(id int32, date, description string) error
}

// New returns the contract on a store.
func New(tables Store) *contract.Contract {
	s := service{tables}
	of := &contract.Contract{Name: "petclinic", Service: "Petclinic", HasErrorInfo: true}
	if opened, ok := tables.(*database); ok {
		of.Database = opened.Database
	}
	for _, kind := range [][]contract.Operation{
		crud("/pettypes", contract.Unary("ListPetTypes", s.listPetTypes), contract.Unary("GetPetType", s.getPetType),
			contract.Unary("AddPetType", s.addPetType), contract.Unary("UpdatePetType", s.updatePetType),
			contract.Unary("DeletePetType", s.deletePetType)),
		crud("/pets", contract.Unary("ListPets", s.listPets), contract.Unary("GetPet", s.getPet),
			contract.Unary("AddPet", s.addPet), contract.Unary("UpdatePet", s.updatePet),
			contract.Unary("DeletePet", s.deletePet)),
		crud("/owners", contract.Unary("ListOwners", s.listOwners), contract.Unary("GetOwner", s.getOwner),
			contract.Unary("AddOwner", s.addOwner), contract.Unary("UpdateOwner", s.updateOwner),
			contract.Unary("DeleteOwner", s.deleteOwner)),
		{
			contract.Unary("AddPetToOwner", s.addPetToOwner).
				WithRoute(postRoute("/owners/{ownerId}/pets", "/pets/{id}")),
			contract.Unary("AddVisitToOwner", s.addVisitToOwner).
				WithRoute(postRoute("/owners/{ownerId}/pets/{petId}/visits", "/visits/{id}")),
			contract.Unary("GetOwnersPet", s.getOwnersPet).
				WithRoute(contract.Route{Method: "GET", Path: prefix + "/owners/{ownerId}/pets/{petId}", Status: 200}),
		},
		crud("/specialties", contract.Unary("ListSpecialties", s.listSpecialties),
			contract.Unary("GetSpecialty", s.getSpecialty), contract.Unary("AddSpecialty", s.addSpecialty),
			contract.Unary("UpdateSpecialty", s.updateSpecialty), contract.Unary("DeleteSpecialty", s.deleteSpecialty)),
		crud("/vets", contract.Unary("ListVets", s.listVets), contract.Unary("GetVet", s.getVet),
			contract.Unary("AddVet", s.addVet), contract.Unary("UpdateVet", s.updateVet),
			contract.Unary("DeleteVet", s.deleteVet)),
		crud("/visits", contract.Unary("ListVisits", s.listVisits), contract.Unary("GetVisit", s.getVisit),
			contract.Unary("AddVisit", s.addVisit), contract.Unary("UpdateVisit", s.updateVisit),
			contract.Unary("DeleteVisit", s.deleteVisit)),
	} {
		of.Operations = append(of.Operations, kind...)
	}
	of.Operations[of.Index("ListOwners")].Route.Query = "lastName"
	of.Operations[of.Index("AddPetType")].Route.CheckJSON = checkNoID
	// As in the original application.
	addPet := of.Operations[of.Index("AddPet")].Route
	addPet.Status, addPet.Location = 200, ""
	return of
}

// prefix begins all paths.
const prefix = "/petclinic/api"

// crud routes the five operations of a kind of row.
func crud(path string, list, get, add, update, remove contract.Operation) []contract.Operation {
	one := prefix + path + "/{id}"
	return []contract.Operation{
		list.WithRoute(contract.Route{Method: "GET", Path: prefix + path, Status: 200, IsList: true}),
		get.WithRoute(contract.Route{Method: "GET", Path: one, Status: 200}),
		add.WithRoute(postRoute(path, path+"/{id}")),
		update.WithRoute(contract.Route{Method: "PUT", Path: one, Status: 204}),
		remove.WithRoute(contract.Route{Method: "DELETE", Path: one, Status: 204}),
	}
}

func postRoute(path, location string) contract.Route {
	return contract.Route{Method: "POST", Path: prefix + path, Status: 201, Location: prefix + location}
}

// checkNoID refuses a new pet type that has an id already. The request message has no
// such field, so that only JSON can carry it.
func checkNoID(text []byte) error {
	var row struct {
		ID int32 `json:"id"`
	}
	if err := json.Unmarshal(text, &row); err != nil || row.ID != 0 {
		return contract.ErrInvalid
	}
	return nil
}

type service struct{ store Store }

// first is the only row of a query by id.
func first[T any](rows []T, err error) (row T, _ error) {
	if err == nil && len(rows) == 0 {
		err = contract.ErrNotFound
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// checkNotEmpty returns the rows of a query; an empty list is an error of the contract.
func checkNotEmpty[T any](rows []T, err error) ([]T, error) {
	if err == nil && len(rows) == 0 {
		err = contract.ErrNotFound
	}
	return rows, err
}

// findByID queries a row by an id that a caller gave: 0 there is no row, not every row.
func findByID[T any](query func(id int32) ([]T, error), id int32) (row T, err error) {
	if id < 1 {
		return row, contract.ErrNotFound
	}
	return first(query(id))
}

// makeDone returns the reply of an update or a deletion.
func makeDone(err error) (*pb.Done, error) {
	if err != nil {
		return nil, err
	}
	return &pb.Done{}, nil
}

func (s service) findName(of table, id int32) (named, error) {
	return findByID(func(id int32) ([]named, error) { return s.store.names(of, id) }, id)
}

func (s service) addNamed(to table, name string) (int32, error) {
	if !isText(name, nameMax) {
		return 0, contract.ErrInvalid
	}
	return s.store.addName(to, name)
}

func (s service) rename(in table, id int32, name string) (*pb.Done, error) {
	if !isText(name, nameMax) {
		return nil, contract.ErrInvalid
	}
	return makeDone(s.store.rename(in, id, name))
}

func (s service) listPetTypes(*pb.ListPetTypesRequest) (*pb.PetTypes, error) {
	rows, err := checkNotEmpty(s.store.names(petTypes, 0))
	reply := &pb.PetTypes{}
	for _, row := range rows {
		reply.PetTypes = append(reply.PetTypes, &pb.PetType{Id: row.id, Name: row.name})
	}
	return reply, err
}

func (s service) getPetType(request *pb.GetPetTypeRequest) (*pb.PetType, error) {
	row, err := s.findName(petTypes, request.Id)
	return &pb.PetType{Id: row.id, Name: row.name}, err
}

func (s service) addPetType(request *pb.AddPetTypeRequest) (*pb.PetType, error) {
	id, err := s.addNamed(petTypes, request.Name)
	return &pb.PetType{Id: id, Name: request.Name}, err
}

func (s service) updatePetType(request *pb.UpdatePetTypeRequest) (*pb.Done, error) {
	return s.rename(petTypes, request.Id, request.Name)
}

func (s service) deletePetType(request *pb.DeletePetTypeRequest) (*pb.Done, error) {
	return makeDone(s.store.remove(petTypes, request.Id))
}

func (s service) listSpecialties(*pb.ListSpecialtiesRequest) (*pb.Specialties, error) {
	rows, err := checkNotEmpty(s.store.names(specialties, 0))
	reply := &pb.Specialties{}
	for _, row := range rows {
		reply.Specialties = append(reply.Specialties, &pb.Specialty{Id: row.id, Name: row.name})
	}
	return reply, err
}

func (s service) getSpecialty(request *pb.GetSpecialtyRequest) (*pb.Specialty, error) {
	row, err := s.findName(specialties, request.Id)
	return &pb.Specialty{Id: row.id, Name: row.name}, err
}

func (s service) addSpecialty(request *pb.AddSpecialtyRequest) (*pb.Specialty, error) {
	id, err := s.addNamed(specialties, request.Name)
	return &pb.Specialty{Id: id, Name: request.Name}, err
}

func (s service) updateSpecialty(request *pb.UpdateSpecialtyRequest) (*pb.Done, error) {
	return s.rename(specialties, request.Id, request.Name)
}

func (s service) deleteSpecialty(request *pb.DeleteSpecialtyRequest) (*pb.Done, error) {
	return makeDone(s.store.remove(specialties, request.Id))
}

func (s service) listVets(*pb.ListVetsRequest) (*pb.Vets, error) {
	rows, err := checkNotEmpty(s.store.vets(0))
	return &pb.Vets{Vets: rows}, err
}

func (s service) getVet(request *pb.GetVetRequest) (*pb.Vet, error) {
	return findByID(s.store.vets, request.Id)
}

func (s service) addVet(request *pb.AddVetRequest) (*pb.Vet, error) {
	if !isPersonName(request.FirstName) || !isPersonName(request.LastName) {
		return nil, contract.ErrInvalid
	}
	id, err := s.store.addVet(request.FirstName, request.LastName, ids(request.Specialties))
	if err != nil {
		return nil, err
	}
	return findByID(s.store.vets, id)
}

func (s service) updateVet(request *pb.UpdateVetRequest) (*pb.Done, error) {
	if !isPersonName(request.FirstName) || !isPersonName(request.LastName) {
		return nil, contract.ErrInvalid
	}
	return makeDone(s.store.updateVet(request.Id, request.FirstName, request.LastName, ids(request.Specialties)))
}

func (s service) deleteVet(request *pb.DeleteVetRequest) (*pb.Done, error) {
	return makeDone(s.store.remove(vets, request.Id))
}

// ids of specialties, each once.
func ids(of []*pb.Specialty) (ids []int32) {
	for _, specialty := range of {
		ids = append(ids, specialty.GetId())
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (s service) listOwners(request *pb.ListOwnersRequest) (*pb.Owners, error) {
	rows, err := checkNotEmpty(s.store.owners(0, request.LastName))
	return &pb.Owners{Owners: rows}, err
}

func (s service) getOwner(request *pb.GetOwnerRequest) (*pb.Owner, error) {
	return findByID(func(id int32) ([]*pb.Owner, error) { return s.store.owners(id, "") }, request.Id)
}

func (s service) addOwner(request *pb.AddOwnerRequest) (*pb.Owner, error) {
	owner := &pb.Owner{FirstName: request.FirstName, LastName: request.LastName, Address: request.Address,
		City: request.City, Telephone: request.Telephone, Pets: []*pb.Pet{}}
	if !isOwner(owner) {
		return nil, contract.ErrInvalid
	}
	id, err := s.store.addOwner(owner)
	return &pb.Owner{Id: id, FirstName: request.FirstName, LastName: request.LastName, Address: request.Address,
		City: request.City, Telephone: request.Telephone, Pets: []*pb.Pet{}}, err
}

func (s service) updateOwner(request *pb.UpdateOwnerRequest) (*pb.Done, error) {
	owner := &pb.Owner{Id: request.Id, FirstName: request.FirstName, LastName: request.LastName,
		Address: request.Address, City: request.City, Telephone: request.Telephone}
	if !isOwner(owner) {
		return nil, contract.ErrInvalid
	}
	return makeDone(s.store.updateOwner(owner))
}

func (s service) deleteOwner(request *pb.DeleteOwnerRequest) (*pb.Done, error) {
	return makeDone(s.store.remove(owners, request.Id))
}

func (s service) listPets(*pb.ListPetsRequest) (*pb.Pets, error) {
	rows, err := checkNotEmpty(s.store.pets(0, 0))
	return &pb.Pets{Pets: rows}, err
}

func (s service) getPet(request *pb.GetPetRequest) (*pb.Pet, error) {
	return findByID(func(id int32) ([]*pb.Pet, error) { return s.store.pets(id, 0) }, request.Id)
}

func (s service) getOwnersPet(request *pb.GetOwnersPetRequest) (*pb.Pet, error) {
	if request.OwnerId < 1 {
		return nil, contract.ErrNotFound
	}
	return findByID(func(id int32) ([]*pb.Pet, error) { return s.store.pets(id, request.OwnerId) }, request.PetId)
}

func (s service) addPet(request *pb.AddPetRequest) (*pb.Pet, error) {
	if !isPet(request.Name, request.BirthDate) {
		return nil, contract.ErrInvalid
	}
	return s.newPet(request.Name, request.BirthDate, request.GetType().GetId(), request.OwnerId)
}

func (s service) addPetToOwner(request *pb.AddPetToOwnerRequest) (*pb.Pet, error) {
	if !isPet(request.Name, request.BirthDate) {
		return nil, contract.ErrInvalid
	}
	if err := s.store.checkOwner(request.OwnerId); err != nil {
		return nil, err
	}
	return s.newPet(request.Name, request.BirthDate, request.GetType().GetId(), request.OwnerId)
}

func (s service) newPet(name, birthDate string, petType, owner int32) (*pb.Pet, error) {
	id, typeName, err := s.store.addPet(name, birthDate, petType, owner)
	return &pb.Pet{Id: id, Name: name, BirthDate: birthDate, Type: &pb.PetType{Id: petType, Name: typeName},
		OwnerId: owner, Visits: []*pb.Visit{}}, err
}

func (s service) updatePet(request *pb.UpdatePetRequest) (*pb.Done, error) {
	if !isPet(request.Name, request.BirthDate) {
		return nil, contract.ErrInvalid
	}
	return makeDone(s.store.updatePet(request.Id, request.Name, request.BirthDate, request.GetType().GetId()))
}

func (s service) deletePet(request *pb.DeletePetRequest) (*pb.Done, error) {
	return makeDone(s.store.remove(pets, request.Id))
}

func (s service) listVisits(*pb.ListVisitsRequest) (*pb.Visits, error) {
	rows, err := checkNotEmpty(s.store.visits(0))
	return &pb.Visits{Visits: rows}, err
}

func (s service) getVisit(request *pb.GetVisitRequest) (*pb.Visit, error) {
	return findByID(s.store.visits, request.Id)
}

func (s service) addVisit(request *pb.AddVisitRequest) (*pb.Visit, error) {
	if !isVisit(request.Date, request.Description) {
		return nil, contract.ErrInvalid
	}
	return s.newVisit(request.Date, request.Description, request.PetId)
}

func (s service) addVisitToOwner(request *pb.AddVisitToOwnerRequest) (*pb.Visit, error) {
	if !isVisit(request.Date, request.Description) {
		return nil, contract.ErrInvalid
	}
	if err := s.store.checkPet(request.PetId, request.OwnerId); err != nil {
		return nil, err
	}
	return s.newVisit(request.Date, request.Description, request.PetId)
}

func (s service) newVisit(date, description string, pet int32) (*pb.Visit, error) {
	id, err := s.store.addVisit(date, description, pet)
	return &pb.Visit{Id: id, Date: date, Description: description, PetId: pet}, err
}

func (s service) updateVisit(request *pb.UpdateVisitRequest) (*pb.Done, error) {
	if !isVisit(request.Date, request.Description) {
		return nil, contract.ErrInvalid
	}
	return makeDone(s.store.updateVisit(request.Id, request.Date, request.Description))
}

func (s service) deleteVisit(request *pb.DeleteVisitRequest) (*pb.Done, error) {
	return makeDone(s.store.remove(visits, request.Id))
}

// sortPets puts an owner's pets in the order of the contract: by the bytes of their
// names, which no collation of a database changes, then by id.
func sortPets(of []*pb.Pet) {
	slices.SortFunc(of, func(a, b *pb.Pet) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Id, b.Id)) })
}

// sortSpecialties puts a vet's specialties in the same order.
func sortSpecialties(of []*pb.Specialty) {
	slices.SortFunc(of, func(a, b *pb.Specialty) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Id, b.Id))
	})
}

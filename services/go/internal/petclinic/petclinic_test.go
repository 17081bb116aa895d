package petclinic

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
	"wirelab/services/go/internal/store"
	"wirelab/services/go/internal/store/storetest"
	pb "wirelab/services/go/petclinicpb"
)

func open(t *testing.T, settings store.Settings) Store {
	t.Helper()
	settings.Timeout = 2 * time.Second
	tables, err := OpenDatabase(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tables.(*database).Close(); err != nil {
			t.Error(err)
		}
	})
	return tables
}

func sqlite(t *testing.T) Store {
	t.Helper()
	return open(t, store.Settings{Kind: "sqlite", URL: filepath.Join(t.TempDir(), "petclinic.db")})
}

// onEveryStore runs a test on fresh tables of every kind.
func onEveryStore(t *testing.T, test func(t *testing.T, tables Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, NewMemory()) })
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
	t.Run("postgres", func(t *testing.T) {
		test(t, open(t, store.Settings{Kind: "postgres", URL: storetest.NewPostgres(t).URL}))
	})
}

// caller makes calls of a contract by the names of its operations.
type caller struct{ *contract.Contract }

func (c caller) call(operation string, request proto.Message) (proto.Message, error) {
	return c.Operations[c.Index(operation)].Answer(request)
}

// check makes a call and compares its reply, or its error.
func (c caller) check(t *testing.T, operation string, request proto.Message, want any) {
	t.Helper()
	reply, err := c.call(operation, request)
	if expected, isError := want.(error); isError {
		if err != expected {
			t.Errorf("%s %v: %v, %v; want %v", operation, request, reply, err, expected)
		}
		return
	}
	if err != nil || !proto.Equal(reply, want.(proto.Message)) {
		t.Errorf("%s %v: %v, %v; want %v", operation, request, reply, err, want)
	}
}

var (
	cat = &pb.PetType{Id: 1, Name: "cat"}
	leo = &pb.Pet{Id: 1, Name: "Leo", BirthDate: "2010-09-07", Type: cat, OwnerId: 1}
	max = &pb.Pet{Id: 8, Name: "Max", BirthDate: "2012-09-04", Type: cat, OwnerId: 6, Visits: []*pb.Visit{
		{Id: 2, Date: "2013-01-02", Description: "rabies shot", PetId: 8},
		{Id: 3, Date: "2013-01-03", Description: "neutered", PetId: 8}}}
	samantha = &pb.Pet{Id: 7, Name: "Samantha", BirthDate: "2012-09-04", Type: cat, OwnerId: 6, Visits: []*pb.Visit{
		{Id: 1, Date: "2013-01-01", Description: "rabies shot", PetId: 7},
		{Id: 4, Date: "2013-01-04", Description: "spayed", PetId: 7}}}
	jean = &pb.Owner{Id: 6, FirstName: "Jean", LastName: "Coleman", Address: "105 N. Lake St.", City: "Monona",
		Telephone: "6085552654", Pets: []*pb.Pet{max, samantha}}
	radiology = &pb.Specialty{Id: 1, Name: "radiology"}
	surgery   = &pb.Specialty{Id: 2, Name: "surgery"}
	dentistry = &pb.Specialty{Id: 3, Name: "dentistry"}
	linda     = &pb.Vet{Id: 3, FirstName: "Linda", LastName: "Douglas", Specialties: []*pb.Specialty{dentistry, surgery}}
)

const (
	notFound = contract.ErrNotFound
	invalid  = contract.ErrInvalid
)

func TestRowsAtTheStart(t *testing.T) {
	onEveryStore(t, func(t *testing.T, tables Store) {
		c := caller{New(tables)}
		if len(c.Operations) != 33 {
			t.Fatalf("%d operations", len(c.Operations))
		}
		c.check(t, "GetPetType", &pb.GetPetTypeRequest{Id: 1}, cat)
		c.check(t, "GetPet", &pb.GetPetRequest{Id: 1}, leo)
		c.check(t, "GetOwner", &pb.GetOwnerRequest{Id: 6}, jean)
		c.check(t, "GetSpecialty", &pb.GetSpecialtyRequest{Id: 3}, dentistry)
		c.check(t, "GetVet", &pb.GetVetRequest{Id: 3}, linda)
		c.check(t, "GetVisit", &pb.GetVisitRequest{Id: 4}, samantha.Visits[1])
		c.check(t, "GetOwnersPet", &pb.GetOwnersPetRequest{OwnerId: 6, PetId: 8}, max)
		c.check(t, "GetOwnersPet", &pb.GetOwnersPetRequest{OwnerId: 1, PetId: 8}, notFound)
		c.check(t, "ListSpecialties", &pb.ListSpecialtiesRequest{},
			&pb.Specialties{Specialties: []*pb.Specialty{radiology, surgery, dentistry}})
		c.check(t, "ListOwners", &pb.ListOwnersRequest{LastName: "Col"}, &pb.Owners{Owners: []*pb.Owner{jean}})
		for _, prefix := range []string{"col", "%", "_", "Coleman2", "é"} {
			c.check(t, "ListOwners", &pb.ListOwnersRequest{LastName: prefix}, notFound)
		}
		for operation, request := range map[string]proto.Message{"ListPetTypes": &pb.ListPetTypesRequest{},
			"ListPets": &pb.ListPetsRequest{}, "ListOwners": &pb.ListOwnersRequest{}, "ListVets": &pb.ListVetsRequest{},
			"ListVisits": &pb.ListVisitsRequest{}} {
			reply, err := c.call(operation, request)
			want, wantErr := caller{New(NewMemory())}.call(operation, request)
			if err != nil || wantErr != nil || !proto.Equal(reply, want) {
				t.Errorf("%s: %v, %v", operation, reply, err)
			}
		}
		for _, id := range []int32{0, -1, 99, 1<<31 - 1} {
			c.check(t, "GetPet", &pb.GetPetRequest{Id: id}, notFound)
			c.check(t, "GetOwner", &pb.GetOwnerRequest{Id: id}, notFound)
			c.check(t, "GetVet", &pb.GetVetRequest{Id: id}, notFound)
			c.check(t, "DeletePetType", &pb.DeletePetTypeRequest{Id: id}, notFound)
			c.check(t, "GetOwnersPet", &pb.GetOwnersPetRequest{OwnerId: id, PetId: 1}, notFound)
			c.check(t, "UpdateVet", &pb.UpdateVetRequest{Id: id, FirstName: "A", LastName: "B"}, notFound)
		}
	})
}

func TestAdditionsAndUpdates(t *testing.T) {
	onEveryStore(t, func(t *testing.T, tables Store) {
		c, day := caller{New(tables)}, "2024-02-29"
		done := &pb.Done{}
		c.check(t, "AddPetType", &pb.AddPetTypeRequest{Name: "Größe <&> 🔩"}, &pb.PetType{Id: 7, Name: "Größe <&> 🔩"})
		c.check(t, "UpdatePetType", &pb.UpdatePetTypeRequest{Id: 7, Name: "axolotl"}, done)
		owner := &pb.Owner{Id: 11, FirstName: "Ada", LastName: "Zed", Address: "a", City: "c", Telephone: "0"}
		c.check(t, "AddOwner", &pb.AddOwnerRequest{FirstName: "Ada", LastName: "Zed", Address: "a", City: "c",
			Telephone: "0"}, owner)
		c.check(t, "UpdateOwner", &pb.UpdateOwnerRequest{Id: 11, FirstName: "Eve", LastName: "Zed", Address: "a",
			City: "c", Telephone: "0"}, done)
		// The name of a type in a request does not count.
		zoe := &pb.Pet{Id: 14, Name: "Zoe", BirthDate: day, Type: &pb.PetType{Id: 7, Name: "axolotl"}, OwnerId: 11}
		c.check(t, "AddPetToOwner", &pb.AddPetToOwnerRequest{OwnerId: 11, Name: "Zoe", BirthDate: day,
			Type: &pb.PetType{Id: 7, Name: "any"}}, zoe)
		mia := &pb.Pet{Id: 15, Name: "Mia", BirthDate: day, Type: cat, OwnerId: 11}
		c.check(t, "AddPet", &pb.AddPetRequest{OwnerId: 11, Name: "Mia", BirthDate: day, Type: cat}, mia)
		c.check(t, "UpdatePet", &pb.UpdatePetRequest{Id: 15, Name: "ärger", BirthDate: day, Type: &pb.PetType{Id: 7}}, done)
		visit := &pb.Visit{Id: 5, Date: day, Description: "d", PetId: 15}
		c.check(t, "AddVisit", &pb.AddVisitRequest{Date: day, Description: "d", PetId: 15}, visit)
		c.check(t, "AddVisitToOwner", &pb.AddVisitToOwnerRequest{OwnerId: 11, PetId: 15, Date: day, Description: "e"},
			&pb.Visit{Id: 6, Date: day, Description: "e", PetId: 15})
		c.check(t, "UpdateVisit", &pb.UpdateVisitRequest{Id: 6, Date: "0001-01-01", Description: "f"}, done)
		mia.Name, mia.Type = "ärger", zoe.Type
		mia.Visits = []*pb.Visit{visit, {Id: 6, Date: "0001-01-01", Description: "f", PetId: 15}}
		owner.FirstName, owner.Pets = "Eve", []*pb.Pet{zoe, mia}
		c.check(t, "GetOwner", &pb.GetOwnerRequest{Id: 11}, owner)
		c.check(t, "AddSpecialty", &pb.AddSpecialtyRequest{Name: "acupuncture"}, &pb.Specialty{Id: 4, Name: "acupuncture"})
		c.check(t, "UpdateSpecialty", &pb.UpdateSpecialtyRequest{Id: 4, Name: "zoology"}, done)
		zoology := &pb.Specialty{Id: 4, Name: "zoology"}
		c.check(t, "AddVet", &pb.AddVetRequest{FirstName: "A", LastName: "B", Specialties: []*pb.Specialty{
			{Id: 4}, {Id: 1, Name: "any"}, {Id: 4}}},
			&pb.Vet{Id: 7, FirstName: "A", LastName: "B", Specialties: []*pb.Specialty{radiology, zoology}})
		c.check(t, "UpdateVet", &pb.UpdateVetRequest{Id: 7, FirstName: "C", LastName: "B",
			Specialties: []*pb.Specialty{{Id: 4}}}, done)
		// An update that fails changes nothing.
		c.check(t, "UpdateVet", &pb.UpdateVetRequest{Id: 7, FirstName: "D", LastName: "B",
			Specialties: []*pb.Specialty{{Id: 1}, {Id: 9}}}, invalid)
		c.check(t, "GetVet", &pb.GetVetRequest{Id: 7},
			&pb.Vet{Id: 7, FirstName: "C", LastName: "B", Specialties: []*pb.Specialty{zoology}})
	})
}

func TestDeletionsCascade(t *testing.T) {
	onEveryStore(t, func(t *testing.T, tables Store) {
		c := caller{New(tables)}
		for _, row := range []struct {
			operation string
			request   proto.Message
		}{
			{"DeleteVisit", &pb.DeleteVisitRequest{Id: 1}}, {"DeletePet", &pb.DeletePetRequest{Id: 8}},
			{"DeleteOwner", &pb.DeleteOwnerRequest{Id: 3}}, {"DeletePetType", &pb.DeletePetTypeRequest{Id: 5}},
			{"DeleteSpecialty", &pb.DeleteSpecialtyRequest{Id: 2}}, {"DeleteVet", &pb.DeleteVetRequest{Id: 2}},
		} {
			c.check(t, row.operation, row.request, &pb.Done{})
			c.check(t, row.operation, row.request, notFound)
		}
		left := proto.Clone(samantha).(*pb.Pet)
		left.Visits = left.Visits[1:]
		c.check(t, "GetOwner", &pb.GetOwnerRequest{Id: 6}, &pb.Owner{Id: 6, FirstName: "Jean", LastName: "Coleman",
			Address: "105 N. Lake St.", City: "Monona", Telephone: "6085552654", Pets: []*pb.Pet{left}})
		c.check(t, "ListVisits", &pb.ListVisitsRequest{}, &pb.Visits{Visits: left.Visits})
		c.check(t, "GetVet", &pb.GetVetRequest{Id: 3},
			&pb.Vet{Id: 3, FirstName: "Linda", LastName: "Douglas", Specialties: []*pb.Specialty{dentistry}})
		for _, pet := range []int32{3, 4, 9, 11} {
			c.check(t, "GetPet", &pb.GetPetRequest{Id: pet}, notFound)
		}
		for id := range int32(6) {
			_, _ = c.call("DeletePetType", &pb.DeletePetTypeRequest{Id: id + 1})
		}
		c.check(t, "ListPetTypes", &pb.ListPetTypesRequest{}, notFound)
		c.check(t, "ListPets", &pb.ListPetsRequest{}, notFound)
	})
}

func TestErrorsInTheOrderOfTheContract(t *testing.T) {
	onEveryStore(t, func(t *testing.T, tables Store) {
		c, day := caller{New(tables)}, "2024-02-29"
		pet := func(owner, petType int32, name string) *pb.AddPetToOwnerRequest {
			return &pb.AddPetToOwnerRequest{OwnerId: owner, Name: name, BirthDate: day, Type: &pb.PetType{Id: petType}}
		}
		c.check(t, "AddPetToOwner", pet(99, 99, ""), invalid)
		c.check(t, "AddPetToOwner", pet(99, 99, "Leo"), notFound)
		c.check(t, "AddPetToOwner", pet(1, 99, "Leo"), invalid)
		c.check(t, "AddPet", &pb.AddPetRequest{OwnerId: 1, Name: "Leo", BirthDate: day}, invalid)
		c.check(t, "AddPet", &pb.AddPetRequest{OwnerId: 99, Name: "Leo", BirthDate: day, Type: cat}, invalid)
		c.check(t, "UpdatePet", &pb.UpdatePetRequest{Id: 99, Name: "Leo", BirthDate: day}, notFound)
		c.check(t, "UpdatePet", &pb.UpdatePetRequest{Id: 1, Name: "Leo", BirthDate: day}, invalid)
		c.check(t, "AddVisit", &pb.AddVisitRequest{Date: day, Description: "d", PetId: 99}, invalid)
		c.check(t, "AddVisitToOwner", &pb.AddVisitToOwnerRequest{OwnerId: 1, PetId: 2, Date: day, Description: "d"}, notFound)
		c.check(t, "AddVet", &pb.AddVetRequest{FirstName: "A", LastName: "B", Specialties: []*pb.Specialty{{}}}, invalid)
		c.check(t, "AddPetType", &pb.AddPetTypeRequest{Name: "a\x00b"}, invalid)
		c.check(t, "UpdateSpecialty", &pb.UpdateSpecialtyRequest{Id: 1, Name: ""}, invalid)
		c.check(t, "UpdateOwner", &pb.UpdateOwnerRequest{Id: 99}, invalid)
		c.check(t, "UpdateVisit", &pb.UpdateVisitRequest{Id: 99, Date: "2023-02-29", Description: "d"}, invalid)
	})
}

func TestLimits(t *testing.T) {
	for _, text := range []string{"2010-09-07", "2000-02-29", "0001-01-01", "9999-12-31"} {
		if !isDate(text) {
			t.Errorf("%q is a date", text)
		}
	}
	for _, text := range []string{"", "2010-9-7", "2010/09/07", "1900-02-29", "2010-13-01", "2010-04-31", "0000-01-01",
		"2010-09-071", "٢٠١٠-09-07", "+201-09-07", " 2010-09-07", "2024-09-09T00:00"} {
		if isDate(text) {
			t.Errorf("%q is not a date", text)
		}
	}
	for text, want := range map[string]bool{strings.Repeat("é", 30): true, strings.Repeat("é", 31): false,
		strings.Repeat("🔩", 15): true, strings.Repeat("🔩", 16): false, "": false, "a\x00": false} {
		if isText(text, 30) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"McTavish": true, "O'Neil": false, "Zoë": false, strings.Repeat("a", 31): false} {
		if isPersonName(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"6085551023": true, "608-555": false, strings.Repeat("1", 21): false} {
		if isTelephone(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestGeneratedCallsAreAnsweredAlike makes the same random calls in memory and in
// databases; ids agree because only additions that fail can make them differ.
func TestGeneratedCallsAreAnsweredAlike(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { compareCalls(t, sqlite(t)) })
	t.Run("postgres", func(t *testing.T) {
		compareCalls(t, open(t, store.Settings{Kind: "postgres", URL: storetest.NewPostgres(t).URL}))
	})
}

func compareCalls(t *testing.T, tables Store) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	got, want := caller{New(tables)}, caller{New(NewMemory())}
	for range 300 {
		operation, request := nextCall(random)
		reply, err := got.call(operation, request)
		expected, wantErr := want.call(operation, request)
		if err != wantErr || err == nil && !proto.Equal(reply, expected) {
			t.Fatalf("%s %v: %v, %v; want %v, %v", operation, request, reply, err, expected, wantErr)
		}
	}
}

// nextCall refers only to rows that exist in additions: a failed one would take an id
// in a database.
func nextCall(random *rand.Rand) (string, proto.Message) {
	id, name := 1+random.Int32N(14), fmt.Sprintf("%c", 'A'+random.IntN(26))
	switch random.IntN(14) {
	case 0:
		return "AddPetType", &pb.AddPetTypeRequest{Name: name}
	case 1:
		return "AddOwner", &pb.AddOwnerRequest{FirstName: name, LastName: name, Address: "a", City: "c", Telephone: "1"}
	case 2, 3:
		return "AddPet", &pb.AddPetRequest{Name: name, BirthDate: "2020-01-01", Type: cat, OwnerId: 1}
	case 4:
		return "AddVet", &pb.AddVetRequest{FirstName: name, LastName: name, Specialties: []*pb.Specialty{{Id: 1}, {Id: 3}}}
	case 5, 6:
		return "AddVisit", &pb.AddVisitRequest{Date: "2020-01-01", Description: name, PetId: 1}
	case 7:
		return "UpdatePet", &pb.UpdatePetRequest{Id: id, Name: name, BirthDate: "2020-01-01", Type: &pb.PetType{Id: id}}
	case 8:
		return "DeleteVisit", &pb.DeleteVisitRequest{Id: id}
	case 9:
		return "DeletePet", &pb.DeletePetRequest{Id: 1 + id}
	case 10:
		return "ListOwners", &pb.ListOwnersRequest{LastName: name}
	case 11:
		return "ListVets", &pb.ListVetsRequest{}
	case 12:
		return "DeleteOwner", &pb.DeleteOwnerRequest{Id: 1 + id}
	}
	return "ListPets", &pb.ListPetsRequest{}
}

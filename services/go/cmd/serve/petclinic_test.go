package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/store/storetest"
	pb "wirelab/services/go/petclinicpb"
)

// petclinicStores are configurations of the contract, by kind of store.
func petclinicStores(t *testing.T, config options) map[string]options {
	t.Helper()
	config = config.with("contract", "petclinic")
	return map[string]options{
		"memory": config,
		"sqlite": config.with("store.kind", "sqlite").with("store.url", filepath.Join(t.TempDir(), "petclinic.db")),
	}
}

const (
	leoJSON = `{"id":1,"name":"Leo","birthDate":"2010-09-07","type":{"id":1,"name":"cat"},"ownerId":1,"visits":[]}`
	zoeJSON = `{"name":"Zoe","birthDate":"2024-02-29","type":{"id":1,"name":"any"},"ownerId":1}`
	owner   = `"firstName":"Ada","lastName":"Zed","address":"a","city":"c","telephone":"1"`
)

// petclinicSteps are calls in JSON, in this order on one service: every operation, and
// the errors of HTTP. A reply that is empty is not compared.
var petclinicSteps = []struct {
	method, path, body string
	status             int
	location, reply    string
}{
	{"GET", "/pettypes", "", 200, "", `[{"id":1,"name":"cat"},{"id":2,"name":"dog"},{"id":3,"name":"lizard"},` +
		`{"id":4,"name":"snake"},{"id":5,"name":"bird"},{"id":6,"name":"hamster"}]`},
	{"GET", "/pettypes/6", "", 200, "", `{"id":6,"name":"hamster"}`},
	{"POST", "/pettypes", `{"id":0,"name":"owl"}`, 201, "/pettypes/7", `{"id":7,"name":"owl"}`},
	{"POST", "/pettypes", `{"id":8,"name":"owl"}`, 400, "", ""},
	{"PUT", "/pettypes/7", `{"id":1,"name":"crow"}`, 204, "", ""},
	{"GET", "/pettypes/7", "", 200, "", `{"id":7,"name":"crow"}`},
	{"DELETE", "/pettypes/7", "", 204, "", ""},
	{"DELETE", "/pettypes/7", "", 404, "", ""},
	{"GET", "/pets/1", "", 200, "", leoJSON},
	{"POST", "/pets", zoeJSON, 200, "", `{"id":14,"name":"Zoe","birthDate":"2024-02-29","type":{"id":1,"name":"cat"},` +
		`"ownerId":1,"visits":[]}`},
	{"PUT", "/pets/14", `{"name":"Mia","birthDate":"2024-02-29","type":{"id":2}}`, 204, "", ""},
	{"GET", "/owners/1/pets/14", "", 200, "", `{"id":14,"name":"Mia","birthDate":"2024-02-29",` +
		`"type":{"id":2,"name":"dog"},"ownerId":1,"visits":[]}`},
	{"GET", "/owners/2/pets/14", "", 404, "", ""},
	{"DELETE", "/pets/14", "", 204, "", ""},
	{"GET", "/pets", "", 200, "", ""},
	{"GET", "/owners?lastName=Frank", "", 200, "", `[{"id":1,"firstName":"George","lastName":"Franklin",` +
		`"address":"110 W. Liberty St.","city":"Madison","telephone":"6085551023","pets":[` + leoJSON + `]}]`},
	{"GET", "/owners?lastName=frank", "", 404, "", ""},
	{"GET", "/owners?lastName=%25", "", 404, "", ""},
	{"GET", "/owners?lastName=%00", "", 400, "", ""},
	{"GET", "/owners?lastName=%FF", "", 404, "", ""},
	{"GET", "/owners", "", 200, "", ""},
	{"POST", "/owners", `{` + owner + `}`, 201, "/owners/11", `{"id":11,` + owner + `,"pets":[]}`},
	{"PUT", "/owners/11", `{` + owner + `}`, 204, "", ""},
	{"GET", "/owners/11", "", 200, "", `{"id":11,` + owner + `,"pets":[]}`},
	{"POST", "/owners/11/pets", zoeJSON, 201, "/pets/15", `{"id":15,"name":"Zoe","birthDate":"2024-02-29",` +
		`"type":{"id":1,"name":"cat"},"ownerId":11,"visits":[]}`},
	{"POST", "/owners/11/pets/15/visits", `{"date":"2024-02-29","description":"d"}`, 201, "/visits/5",
		`{"id":5,"date":"2024-02-29","description":"d","petId":15}`},
	{"POST", "/owners/1/pets/15/visits", `{"date":"2024-02-29","description":"d"}`, 404, "", ""},
	{"POST", "/visits", `{"date":"2024-02-29","description":"e","petId":15}`, 201, "/visits/6",
		`{"id":6,"date":"2024-02-29","description":"e","petId":15}`},
	{"PUT", "/visits/6", `{"date":"0001-01-01","description":"f"}`, 204, "", ""},
	{"GET", "/visits/6", "", 200, "", `{"id":6,"date":"0001-01-01","description":"f","petId":15}`},
	{"DELETE", "/visits/6", "", 204, "", ""},
	{"DELETE", "/owners/11", "", 204, "", ""},
	{"GET", "/visits/5", "", 404, "", ""},
	{"GET", "/visits", "", 200, "", ""},
	{"GET", "/specialties", "", 200, "", `[{"id":1,"name":"radiology"},{"id":2,"name":"surgery"},` +
		`{"id":3,"name":"dentistry"}]`},
	{"POST", "/specialties", `{"name":"x"}`, 201, "/specialties/4", `{"id":4,"name":"x"}`},
	{"PUT", "/specialties/4", `{"name":"y"}`, 204, "", ""},
	{"GET", "/specialties/4", "", 200, "", `{"id":4,"name":"y"}`},
	{"GET", "/vets/1", "", 200, "", `{"id":1,"firstName":"James","lastName":"Carter","specialties":[]}`},
	{"POST", "/vets", `{"firstName":"A","lastName":"B","specialties":[{"id":4},{"id":3}]}`, 201, "/vets/7",
		`{"id":7,"firstName":"A","lastName":"B","specialties":[{"id":3,"name":"dentistry"},{"id":4,"name":"y"}]}`},
	{"DELETE", "/specialties/4", "", 204, "", ""},
	{"PUT", "/vets/7", `{"firstName":"C","lastName":"B","specialties":[]}`, 204, "", ""},
	{"DELETE", "/vets/7", "", 204, "", ""},
	{"GET", "/vets", "", 200, "", ""},

	{"POST", "/owners", `{"firstName":""}`, 400, "", ""},
	{"POST", "/owners", `{`, 400, "", ""},
	{"GET", "/owners/x", "", 400, "", ""},
	{"GET", "/owners/2147483648", "", 400, "", ""},
	{"GET", "/owners/0", "", 404, "", ""},
	{"PUT", "/owners", `{}`, 405, "", ""},
	{"HEAD", "/owners", "", 405, "", ""},
	{"GET", "/owners/1/pets", "", 405, "", ""},
	{"GET", "/owners/", "", 404, "", ""},
	{"GET", "/cats", "", 404, "", ""},
}

func TestPetclinicOverREST(t *testing.T) {
	stores := petclinicStores(t, restJSON)
	stores["memory http/2"] = stack("rest", "json", "http/2").with("contract", "petclinic")
	for name, config := range stores {
		t.Run(name, func(t *testing.T) { checkPetclinic(t, config) })
	}
	t.Run("postgres", func(t *testing.T) {
		checkPetclinic(t, restJSON.with("contract", "petclinic").with("store.kind", "postgres").
			with("store.url", storetest.NewPostgres(t).URL))
	})
}

func checkPetclinic(t *testing.T, config options) {
	t.Helper()
	p := start(t, config)
	for _, step := range petclinicSteps {
		header := []string{"Accept", "application/json"}
		if step.body != "" {
			header = append(header, "Content-Type", "application/json")
		}
		answer := mustCall(t, p, p.transport, step.method, "/petclinic/api"+step.path, []byte(step.body), header...)
		what := step.method + " " + step.path + " " + step.body
		if answer.StatusCode != step.status {
			t.Errorf("%s: status %d, want %d: %s", what, answer.StatusCode, step.status, answer.body)
		}
		location := step.location
		if location != "" {
			location = "/petclinic/api" + location
		}
		if got := answer.Header.Get("Location"); got != location {
			t.Errorf("%s: location %q, want %q", what, got, location)
		}
		isBodyAtFault := step.status == 400 && step.body != ""
		if isSet := answer.Header.Get("errors") != ""; isSet != isBodyAtFault {
			t.Errorf("%s: errors %q", what, answer.Header.Get("errors"))
		}
		info := `{"className":"` + http.StatusText(step.status) + `","exMessage":"`
		if isRefused := step.status == 400 || step.status == 405; isRefused && step.method != "HEAD" &&
			!strings.HasPrefix(string(answer.body), info) {
			t.Errorf("%s: %s, want %s", what, answer.body, info)
		}
		if step.reply != "" && string(answer.body) != step.reply {
			t.Errorf("%s: %s, want %s", what, answer.body, step.reply)
		}
		if strings.Contains(string(answer.body), "null") {
			t.Errorf("%s: an empty list is null: %s", what, answer.body)
		}
		known := step.path != "/cats" && step.path != "/owners/"
		if (step.status == 204 || step.status == 404 && known) && len(answer.body) > 0 {
			t.Errorf("%s: a body of %d bytes", what, len(answer.body))
		}
		if step.status == 405 && answer.Header.Get("Allow") == "" {
			t.Errorf("%s: no field Allow", what)
		}
	}
}

// TestAllowNamesTheMethodsOfAPath: paths of petclinic have several.
func TestAllowNamesTheMethodsOfAPath(t *testing.T) {
	p := start(t, restJSON.with("contract", "petclinic"))
	for path, want := range map[string]string{"/owners": "GET, POST", "/owners/1": "DELETE, GET, PUT",
		"/owners/1/pets": "POST", "/owners/1/pets/1": "GET"} {
		answer := mustCall(t, p, p.transport, "PATCH", "/petclinic/api"+path, nil)
		if got := answer.Header.Get("Allow"); answer.StatusCode != 405 || got != want {
			t.Errorf("%s: status %d, Allow %q, want %q", path, answer.StatusCode, got, want)
		}
	}
}

// TestPetclinicAsProtobuf: lists are messages, and the path counts before the body.
func TestPetclinicAsProtobuf(t *testing.T) {
	for name, config := range petclinicStores(t, stack("rest", "protobuf", "http/1.1")) {
		t.Run(name, func(t *testing.T) {
			p := start(t, config)
			answer := mustCall(t, p, p.transport, "GET", "/petclinic/api/specialties", nil)
			list := &pb.Specialties{}
			if err := proto.Unmarshal(answer.body, list); err != nil || len(list.GetSpecialties()) != 3 ||
				answer.Header.Get("Content-Type") != "application/x-protobuf" {
				t.Errorf("%v, %v", list, err)
			}
			body, err := proto.Marshal(&pb.UpdateSpecialtyRequest{Id: 1, Name: "x"})
			if err != nil {
				t.Fatal(err)
			}
			for path, status := range map[string]int{"/specialties/2": 204, "/specialties/9": 404} {
				answer = mustCall(t, p, p.transport, "PUT", "/petclinic/api"+path, body,
					"Content-Type", "application/x-protobuf")
				if answer.StatusCode != status || len(answer.body) > 0 {
					t.Errorf("%s: status %d: %q", path, answer.StatusCode, answer.body)
				}
			}
			answer = mustCall(t, p, p.transport, "GET", "/petclinic/api/specialties/2", nil)
			want, err := proto.Marshal(&pb.Specialty{Id: 2, Name: "x"})
			if err != nil || !bytes.Equal(answer.body, want) {
				t.Errorf("%x, want %x, %v", answer.body, want, err)
			}
			answer = mustCall(t, p, p.transport, "POST", "/petclinic/api/specialties", nil)
			if answer.StatusCode != 415 {
				t.Errorf("without a type: status %d", answer.StatusCode)
			}
		})
	}
}

func TestPetclinicOverGRPC(t *testing.T) {
	for name, config := range petclinicStores(t, grpcOnly) {
		t.Run(name, func(t *testing.T) {
			p := start(t, config)
			connection, err := dialGRPC(p)
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			client := pb.NewPetclinicClient(connection)
			pet, err := client.GetPet(t.Context(), &pb.GetPetRequest{Id: 7})
			if err != nil || pet.GetName() != "Samantha" || len(pet.GetVisits()) != 2 {
				t.Errorf("%v, %v", pet, err)
			}
			owner, err := client.AddOwner(t.Context(), &pb.AddOwnerRequest{FirstName: "A", LastName: "B", Address: "a",
				City: "c", Telephone: "1"})
			if err != nil || owner.GetId() != 11 {
				t.Errorf("%v, %v", owner, err)
			}
			if _, err := client.DeleteOwner(t.Context(), &pb.DeleteOwnerRequest{Id: 11}); err != nil {
				t.Error(err)
			}
			_, err = client.GetOwner(t.Context(), &pb.GetOwnerRequest{Id: 11})
			checkStatus(t, err, codes.NotFound, "not found")
			_, err = client.AddPetType(t.Context(), &pb.AddPetTypeRequest{})
			checkStatus(t, err, codes.InvalidArgument, "invalid request")
			checkCounts(t, metrics(t, p), map[string]float64{`wirelab_calls_total{operation="GetOwner"}`: 1,
				`wirelab_errors_total{operation="GetOwner"}`: 1, `wirelab_errors_total{operation="GetPet"}`: 0})
		})
	}
}

//go:build ignore

// The checking service of the HTTP task. Start it with: go run http/main.go
//
// Participants do not read or change this file.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	address    = "127.0.0.1:8080"
	userURL    = "http://127.0.0.1:9009/retrieveUser"
	codeSent   = "CODE-1" // of part 1
	codeServed = "CODE-2" // of part 2
	bodyMax    = 64 << 10
	timeout    = 5 * time.Second
	wantedID   = 1969
	wantedName = "Margaret Hamilton"
)

type number struct {
	Number int `json:"number"`
}

type user struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// checker gives one number for as long as it runs.
type checker struct {
	number int
}

func main() {
	checker := checker{number: 1 + rand.IntN(1000)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /getNumber", checker.getNumber)
	mux.HandleFunc("POST /checkNumber", checker.checkNumber)
	mux.HandleFunc("GET /checkUser", checkUser)
	server := http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: timeout}
	fmt.Println("The checking service listens on http://" + address + ". Ctrl-C ends it.")
	log.Fatal(server.ListenAndServe())
}

func (c checker) getNumber(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(number{c.number}); err != nil {
		log.Print(err)
	}
}

func (c checker) checkNumber(w http.ResponseWriter, r *http.Request) {
	var received number
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyMax)).Decode(&received); err != nil {
		fmt.Fprintf(w, "Not yet: the body is not a JSON object with an integer \"number\": %v\n", err)
		return
	}
	if received.Number != 2*c.number {
		fmt.Fprintf(w, "Not yet: received %d, expected twice the number that GET /getNumber returned.\n", received.Number)
		return
	}
	fmt.Fprintf(w, "Correct! The code of this part is %s.\n", codeSent)
}

func checkUser(w http.ResponseWriter, _ *http.Request) {
	client := http.Client{Timeout: timeout}
	reply, err := client.Get(userURL)
	if err != nil {
		fmt.Fprintf(w, "Not yet: your server did not answer: %v\n", err)
		return
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		fmt.Fprintf(w, "Not yet: your server answered with status %s.\n", reply.Status)
		return
	}
	var found user
	if err := json.NewDecoder(io.LimitReader(reply.Body, bodyMax)).Decode(&found); err != nil {
		fmt.Fprintf(w, "Not yet: the reply is not a JSON object with \"id\" and \"name\": %v\n", err)
		return
	}
	if found.ID != wantedID || found.Name != wantedName {
		fmt.Fprintf(w, "Not yet: received id %d and name %q.\n", found.ID, found.Name)
		return
	}
	fmt.Fprintf(w, "Correct! The code of this part is %s.\n", codeServed)
}

//go:build ignore

// Part 2 of the HTTP task. Run it with: go run http/server.go
package main

import (
	"log"
	"net/http"
)

func retrieveUser(w http.ResponseWriter, r *http.Request) {
}

func main() {
	http.HandleFunc("/retrieveUser", retrieveUser)
	log.Fatal(http.ListenAndServe("127.0.0.1:9009", nil))
}

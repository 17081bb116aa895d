// Command serve is wirelab's service in Go: every contract as rest@go, soap@go
// and grpc@go (docs/reference/process.md).
package main

import (
	"log"
	"os"

	"wirelab/services/go/internal/service"
)

func main() {
	log.SetPrefix("wirelab-go-service: ")
	os.Exit(service.Run(os.Stdin, os.Stdout))
}

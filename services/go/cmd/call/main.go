// Command call is wirelab's caller in Go: it carries out a plan by net/http or
// grpc-go (docs/reference/process.md).
package main

import (
	"log"
	"os"

	"wirelab/services/go/internal/call"
)

func main() {
	log.SetPrefix("wirelab-go-caller: ")
	os.Exit(call.Main(os.Stdin, os.Stdout))
}

//go:build ignore

// Part 1 of the HTTP task. Run it with: go run http/client.go
package main

func main() {
}

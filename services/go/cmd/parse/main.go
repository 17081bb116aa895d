// Command parse times one parser in this process, as docs/reference/parsers.md describes:
//
//	parse PARSER WARMUP_NS WINDOW_NS BLOCKS NAME=FILE...
//
// It prints one line of JSON, refuses wrong arguments with exit code 2, and ends with
// 1 where the parser fails.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	result, err := run(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wirelab-parse:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: PARSER WARMUP_NS WINDOW_NS BLOCKS NAME=FILE")

func run(arguments []string) (*result, error) {
	if len(arguments) < 5 {
		return nil, errUsage
	}
	maker, known := parsers[arguments[0]]
	if !known {
		return nil, fmt.Errorf("%w: no parser is named %q", errUsage, arguments[0])
	}
	bounds := [3]int64{}
	for at := range bounds {
		value, err := strconv.ParseInt(arguments[1+at], 10, 64)
		if err != nil || value < 1 {
			return nil, fmt.Errorf("%w: %q is not a positive number", errUsage, arguments[1+at])
		}
		bounds[at] = value
	}
	var documents []document
	for _, named := range arguments[4:] {
		name, file, found := strings.Cut(named, "=")
		if !found {
			return nil, fmt.Errorf("%w: %q", errUsage, named)
		}
		bytes, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document{name, bytes})
	}
	timed, err := measure(maker.make, documents, plan{bounds[0], bounds[1], int(bounds[2])})
	if err != nil {
		return nil, err
	}
	timed.Library, timed.Implementation, timed.Runtime = library(maker.module), maker.module, runtime.Version()
	return timed, nil
}

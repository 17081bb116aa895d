#!/bin/sh
# Builds the service: the code of Protocol Buffers first, by the generators that go.mod pins.
set -eu
go run ./generate
go build -v -trimpath -o service .

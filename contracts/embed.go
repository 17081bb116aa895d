// Package contracts holds the generated descriptions that services in Go hand out or read by.
package contracts

import "embed"

// WSDL has the folder wsdl, one file per contract and style of SOAP.
//
//go:embed wsdl/*.wsdl
var WSDL embed.FS

// Avro has the folder avro, one file per contract with the union of its records.
//
//go:embed avro/*.avsc
var Avro embed.FS

// Package contracts holds the generated descriptions that services in Go hand out.
package contracts

import "embed"

// WSDL has the folder wsdl, one file per contract and style of SOAP.
//
//go:embed wsdl/*.wsdl
var WSDL embed.FS

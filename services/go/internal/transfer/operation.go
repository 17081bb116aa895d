// Package transfer is the contract `transfer` without a wire: its operations,
// its texts and patterns, and the rules that every binding answers by.
// contracts/README.md is its definition.
package transfer

// Operation is one call of the contract.
type Operation int

// The operations, in the order of the contract.
const (
	Hello Operation = iota
	HelloBytes
	Submit
	Upload
	UploadStream
	Download
	operations
)

var names = [operations]string{"Hello", "HelloBytes", "Submit", "Upload", "UploadStream", "Download"}

// String is the operation's name in the contract.
func (o Operation) String() string { return names[o] }

// Operations lists them all.
func Operations() []Operation {
	return []Operation{Hello, HelloBytes, Submit, Upload, UploadStream, Download}
}

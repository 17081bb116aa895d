package main

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
)

// content is what a parser passes on of a document, in document order. An empty space
// stands for no namespace; declarations of namespaces are not attributes.
type content interface {
	start(space, name string)
	attribute(space, name, value string)
	text(part []byte)
	textString(part string)
	end()
}

// checksum reads every byte of texts and attribute values, which is the work that is timed.
type checksum uint64

const perElement = 0x9E3779B97F4A7C15

func (c *checksum) start(string, string)                { *c += perElement }
func (c *checksum) attribute(_, _ string, value string) { c.textString(value) }
func (c *checksum) end()                                { *c ^= 1 }

func (c *checksum) text(part []byte) {
	sum := uint64(0)
	for _, one := range part {
		sum += uint64(one)
	}
	*c += checksum(sum)
}

func (c *checksum) textString(part string) {
	sum := uint64(0)
	for at := range len(part) {
		sum += uint64(part[at])
	}
	*c += checksum(sum)
}

// fingerprint is SHA-256 over elements, attributes and texts in the form that
// docs/reference/parsers.md describes: equal for all parsers that saw the same document.
type fingerprint struct {
	digest     hash.Hash
	pending    []byte
	attributes []string
}

func newFingerprint() *fingerprint { return &fingerprint{digest: sha256.New()} }

func (f *fingerprint) start(space, name string) {
	f.flush()
	f.line("(", space+"}"+name)
}

func (f *fingerprint) attribute(space, name, value string) {
	f.attributes = append(f.attributes, space+"}"+name+"="+value)
}

func (f *fingerprint) text(part []byte)       { f.pending = append(f.pending, part...) }
func (f *fingerprint) textString(part string) { f.pending = append(f.pending, part...) }

func (f *fingerprint) end() {
	f.flush()
	f.line(")", "")
}

func (f *fingerprint) hex() string { return hex.EncodeToString(f.digest.Sum(nil)) }

func (f *fingerprint) flush() {
	slices.Sort(f.attributes)
	for _, one := range f.attributes {
		f.line("@", one)
	}
	f.attributes = f.attributes[:0]
	if len(f.pending) > 0 {
		f.line("-", string(f.pending))
		f.pending = f.pending[:0]
	}
}

func (f *fingerprint) line(kind, value string) { f.digest.Write([]byte(kind + value + "\n")) }

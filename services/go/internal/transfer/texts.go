package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// charactersPerOutput: each of the generator's outputs gives ten characters of
// six bits; the remaining four bits are not used.
const charactersPerOutput = 10

// output is SplitMix64's output number index, from 0, of the stream with seed 0
// (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
// The state is a multiple of a constant, so any output can be had at once.
func output(index uint64) uint64 {
	z := (index + 1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Text is the contract's text of that many bytes, all of them ASCII.
func Text(bytes int) string {
	if bytes == 14 {
		return "Hello, wirelab"
	}
	var text strings.Builder
	text.Grow(bytes)
	for at := 0; at < bytes; at++ {
		z := output(uint64(at / charactersPerOutput))
		text.WriteByte(alphabet[z>>(6*(at%charactersPerOutput))&63])
	}
	return text.String()
}

// entityTagBytes of SHA-256 are in an entity tag.
const entityTagBytes = 16

// EntityTag is that of Hello's replies: a weak one, because replies of all codecs and codings
// have it (RFC 9110 section 8.8.1).
func EntityTag(text string) string {
	digest := sha256.Sum256([]byte(text))
	return `W/"` + hex.EncodeToString(digest[:entityTagBytes]) + `"`
}

// FillPattern fills chunk with the contract's pattern from that byte on.
func FillPattern(offset int64, chunk []byte) {
	word, skip := uint64(offset)/8, int(offset%8)
	var eight [8]byte
	for len(chunk) > 0 {
		binary.LittleEndian.PutUint64(eight[:], output(word))
		chunk = chunk[copy(chunk, eight[skip:]):]
		word, skip = word+1, 0
	}
}

// Package rules is what every service of a contract computes: the digest of a request, and the
// number that its reply gets. Both are sums over all fields, so that no field can stay unread.
package rules

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

type integer interface {
	~int32 | ~int64 | ~uint32 | ~uint64
}

type float interface{ ~float32 | ~float64 }

// Modulus: numbers of replies are below it.
const Modulus = 1000

// Bool is the value of a bool.
func Bool[T ~bool](of T) uint64 {
	if of {
		return 1
	}
	return 0
}

// Integer is the value of an integer or an enum, in two's complement.
func Integer[T integer](of T) uint64 { return uint64(of) }

// Float is the value of a number with fractions: its bits as a double. Both zeros count 0.
func Float[T float](of T) uint64 {
	if of == 0 {
		return 0
	}
	return math.Float64bits(float64(of))
}

// BoolText is the value of a bool from its text, which was checked.
func BoolText(of string) uint64 { return Bool(of == "true") }

// IntegerText is the value of an integer from its digits, which were checked.
func IntegerText(of string) uint64 {
	if number, err := strconv.ParseInt(of, 10, 64); err == nil {
		return uint64(number)
	}
	number, _ := strconv.ParseUint(of, 10, 64)
	return number
}

// String is the value of a text: its length in code points and the first of them.
func String(of string) uint64 {
	if of == "" {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(of)
	return uint64(utf8.RuneCountInString(of)) + uint64(first)
}

// Bytes is the value of bytes: their number and the first of them.
func Bytes[T ~[]byte](of T) uint64 {
	if len(of) == 0 {
		return 0
	}
	return uint64(len(of)) + uint64(of[0])
}

type moment interface {
	GetSeconds() int64
	GetNanos() int32
}

// Moment is the value of a timestamp or a duration.
func Moment[T moment](of T) uint64 { return uint64(of.GetSeconds()) + uint64(of.GetNanos()) }

// Message is the value of a message, or of a moment, that may be absent.
func Message[T any](of *T, value func(*T) uint64) uint64 {
	if of == nil {
		return 0
	}
	return value(of)
}

// OptionalMoment is the value of a moment that is optional.
func OptionalMoment[T any](of *T, value func(*T) uint64) uint64 {
	if of == nil {
		return 0
	}
	return value(of) + 1
}

// Optional is the value of a scalar that may be absent.
func Optional[T any](of *T, value func(T) uint64) uint64 {
	if of == nil {
		return 0
	}
	return value(*of) + 1
}

// OptionalBytes is the value of bytes that are absent where they are nil.
func OptionalBytes(of []byte) uint64 {
	if of == nil {
		return 0
	}
	return Bytes(of) + 1
}

// List is the value of a list.
func List[T any](of []T, value func(T) uint64) uint64 {
	total := uint64(len(of))
	for _, item := range of {
		total += value(item)
	}
	return total
}

// Structs is the value of a list of messages.
func Structs[T any](of []T, value func(*T) uint64) uint64 {
	total := uint64(len(of))
	for i := range of {
		total += value(&of[i])
	}
	return total
}

// Map is the value of a map.
func Map[M ~map[K]V, K comparable, V any](of M, key func(K) uint64, value func(V) uint64) uint64 {
	total := uint64(len(of))
	for name, item := range of {
		total += key(name) + value(item)
	}
	return total
}

// StructMap is the value of a map of messages.
func StructMap[M ~map[K]V, K comparable, V any](of M, key func(K) uint64, value func(*V) uint64) uint64 {
	total := uint64(len(of))
	for name, item := range of {
		total += key(name) + value(&item)
	}
	return total
}

// Number is what a reply is made different by.
type Number struct {
	value int32
	// text is appended to texts; empty where numbers carry it.
	text string
}

// NumberOf is the number of the reply to a request with that digest. It goes into the reply's
// texts, or into its numbers.
func NumberOf(digest uint64, inText bool) Number {
	number := Number{value: int32(digest % Modulus)}
	if inText {
		number.text = fmt.Sprintf("%03d", number.value)
	}
	return number
}

// Add is a number with n added.
func Add[T integer | float](to T, n Number) T { return to + T(n.value) }

// AddText is a text with the digits of n after it.
func AddText(to string, n Number) string { return to + n.text }

// Same is a value that stays as it is.
func Same[T any](of T, _ Number) T { return of }

// SameBytes is a copy of bytes; nil stays nil.
func SameBytes[T ~[]byte](of T, _ Number) T { return bytes.Clone(of) }

// CopyOptional is a copy of what may be absent.
func CopyOptional[T any](of *T, n Number, copied func(T, Number) T) *T {
	if of == nil {
		return nil
	}
	item := copied(*of, n)
	return &item
}

// CopyMessage is a copy of a message that may be absent.
func CopyMessage[T any](of *T, n Number, copied func(*T, Number) *T) *T {
	if of == nil {
		return nil
	}
	return copied(of, n)
}

// CopyList is a copy of a list.
func CopyList[T any](of []T, n Number, copied func(T, Number) T) []T {
	items := make([]T, len(of))
	for i, item := range of {
		items[i] = copied(item, n)
	}
	return items
}

// CopyStructs is a copy of a list of messages.
func CopyStructs[T any](of []T, n Number, copied func(*T, Number) *T) []T {
	items := make([]T, len(of))
	for i := range of {
		items[i] = *copied(&of[i], n)
	}
	return items
}

// CopyMap is a copy of a map; its keys stay as they are.
func CopyMap[M ~map[K]V, K comparable, V any](of M, n Number, copied func(V, Number) V) M {
	items := make(M, len(of))
	for key, item := range of {
		items[key] = copied(item, n)
	}
	return items
}

// CopyStructMap is a copy of a map of messages.
func CopyStructMap[M ~map[K]V, K comparable, V any](of M, n Number, copied func(*V, Number) *V) M {
	items := make(M, len(of))
	for key, item := range of {
		items[key] = *copied(&item, n)
	}
	return items
}

package xmlmap

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
)

// referenceBytesMax is more than any character's number needs.
const referenceBytesMax = 64

// TagBytesMax bounds a tag with its attributes. encoding/xml makes 64 bytes of
// memory of an attribute of five, and has no limit of its own.
const TagBytesMax = 64 << 10

// ErrTag is a tag beyond that.
var ErrTag = fmt.Errorf("a tag has at most %d bytes", TagBytesMax)

// ErrReference is a reference to half a character (XML 1.0 section 4.1), for
// which encoding/xml would put U+FFFD, or to what has no end.
var ErrReference = errors.New("a character reference names no character")

// checkMarkup finds what encoding/xml lets pass, and nothing else: markup that
// is not well-formed is left to it.
func checkMarkup(text []byte) error {
	for len(text) > 0 {
		at := lengthThrough(text, bytes.IndexByte(text, '<'), 0)
		if err := checkReferences(text[:at]); err != nil {
			return err
		}
		text = text[at:]
		end := markupEnd(text)
		if len(text) > 1 && text[1] != '!' && text[1] != '?' {
			if end > TagBytesMax {
				return ErrTag
			}
			if err := checkReferences(text[:end]); err != nil {
				return err
			}
		}
		text = text[end:]
	}
	return nil
}

// checkReferences finds references that name no character.
func checkReferences(text []byte) error {
	for {
		_, after, found := bytes.Cut(text, []byte("&#"))
		if !found {
			return nil
		}
		text = after
		digits, _, ended := bytes.Cut(after[:min(len(after), referenceBytesMax)], []byte(";"))
		if !ended {
			return ErrReference
		}
		base := 10
		if hexadecimal, isHexadecimal := bytes.CutPrefix(digits, []byte("x")); isHexadecimal {
			digits, base = hexadecimal, 16
		}
		if number, err := strconv.ParseUint(string(digits), base, 64); err == nil && utf16.IsSurrogate(rune(number)) {
			return ErrReference
		}
	}
}

// sections are markup in which quotes and > mean nothing.
var sections = []struct{ start, end []byte }{
	{[]byte("<!--"), []byte("-->")},
	{[]byte("<![CDATA["), []byte("]]>")},
	{[]byte("<?"), []byte("?>")},
}

// markupEnd is the length of the markup with which text begins.
func markupEnd(text []byte) int {
	for _, section := range sections {
		if bytes.HasPrefix(text, section.start) {
			return lengthThrough(text, bytes.Index(text, section.end), len(section.end))
		}
	}
	for at := 1; at < len(text); {
		next := bytes.IndexAny(text[at:], `>"'`)
		if next < 0 {
			break
		}
		at += next
		if text[at] == '>' {
			return at + 1
		}
		value := text[at+1:]
		at += 1 + lengthThrough(value, bytes.IndexByte(value, text[at]), 1)
	}
	return len(text)
}

// lengthThrough returns the length up to and with what was found; all of text if nothing was.
func lengthThrough(text []byte, found, length int) int {
	if found < 0 {
		return len(text)
	}
	return found + length
}

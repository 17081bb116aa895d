package xmlmap

import (
	"bytes"
	"fmt"
)

// TagBytesMax bounds a tag with its attributes. encoding/xml makes 64 bytes of
// memory of an attribute of five, and has no limit of its own.
const TagBytesMax = 64 << 10

// ErrTag is a tag beyond that.
var ErrTag = fmt.Errorf("a tag has at most %d bytes", TagBytesMax)

// checkTags finds tags that are too long, and nothing else: markup that is not
// well-formed is left to the reader.
func checkTags(text []byte) error {
	for {
		at := bytes.IndexByte(text, '<')
		if at < 0 {
			return nil
		}
		text = text[at:]
		end := markupEnd(text)
		if end > TagBytesMax && text[1] != '!' && text[1] != '?' {
			return ErrTag
		}
		text = text[end:]
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
			return through(text, bytes.Index(text, section.end), len(section.end))
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
		at += 1 + through(value, bytes.IndexByte(value, text[at]), 1)
	}
	return len(text)
}

// through is the length up to and with what was found; all of text if nothing was.
func through(text []byte, found, length int) int {
	if found < 0 {
		return len(text)
	}
	return found + length
}

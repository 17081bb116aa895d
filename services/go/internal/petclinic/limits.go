package petclinic

import (
	"strings"
	"time"
	"unicode/utf16"

	pb "wirelab/services/go/petclinicpb"
)

// Limits of texts in UTF-16 code units, as Java counts them.
const (
	personNameMax  = 30 // also of a pet's name
	nameMax        = 80 // of a pet type or specialty
	addressMax     = 255
	cityMax        = 80
	telephoneMax   = 20
	descriptionMax = 255
)

// isText: 1 to most code units, and no NUL, which PostgreSQL cannot store and no text
// of the contracts holds.
func isText(text string, most int) bool {
	if text == "" || strings.IndexByte(text, 0) >= 0 {
		return false
	}
	units := 0
	for _, letter := range text {
		units += utf16.RuneLen(letter)
	}
	return units <= most
}

func isPersonName(text string) bool {
	return isText(text, personNameMax) && onlyOf(text, func(b byte) bool {
		return 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
	})
}

func isTelephone(text string) bool {
	return isText(text, telephoneMax) && onlyOf(text, func(b byte) bool { return '0' <= b && b <= '9' })
}

func onlyOf(text string, allowed func(byte) bool) bool {
	for i := range len(text) {
		if !allowed(text[i]) {
			return false
		}
	}
	return true
}

// isDate: a day of the Gregorian calendar as YYYY-MM-DD, from year 1 on. Package time
// takes year 0 too.
func isDate(text string) bool {
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && day.Year() > 0
}

func isOwner(owner *pb.Owner) bool {
	return isPersonName(owner.FirstName) && isPersonName(owner.LastName) && isText(owner.Address, addressMax) &&
		isText(owner.City, cityMax) && isTelephone(owner.Telephone)
}

func isPet(name, birthDate string) bool { return isText(name, personNameMax) && isDate(birthDate) }

func isVisit(date, description string) bool {
	return isDate(date) && isText(description, descriptionMax)
}

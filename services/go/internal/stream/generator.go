package stream

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// charactersPerOutput: each output gives ten characters of six bits.
const charactersPerOutput = 10

// generator is the state of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, 2014).
type generator uint64

func (g *generator) next() uint64 {
	*g += 0x9E3779B97F4A7C15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// text is that many characters of base64.
func (g *generator) text(characters int) string {
	text := make([]byte, characters)
	var z uint64
	for at := range text {
		if at%charactersPerOutput == 0 {
			z = g.next()
		}
		text[at] = alphabet[z&63]
		z >>= 6
	}
	return string(text)
}

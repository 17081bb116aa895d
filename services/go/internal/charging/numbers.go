package charging

import (
	"errors"
	"math"
)

// errNumbers is not an application error: the contract has no word for it.
var errNumbers = errors.New("all 2147483647 numbers were given; start the service again")

// numbers gives each positive int32 once.
type numbers struct{ last int32 }

func (n *numbers) next() (int32, error) {
	if n.last == math.MaxInt32 {
		return 0, errNumbers
	}
	n.last++
	return n.last, nil
}

package charging

import (
	"errors"
	"math"
	"sync"
)

// ledger holds everything. One lock makes every operation atomic; they are a
// few map operations long, so that several locks would cost more than they save.
type ledger struct {
	lock         sync.Mutex
	accounts     []account // number n at n-1
	reservations map[int32]reservation
	unconfirmed  map[int32]struct{}
	// The numbers given last.
	confirmation, reservation numbers
	// The contract's limits; fields, so that tests reach them.
	unconfirmedMax, reservationsMax int
}

// account: 0 <= reserved <= balance <= BalanceMax always.
type account struct{ balance, reserved int32 }

func (a *account) available() int32 { return a.balance - a.reserved }

// reservation is an amount that an account has set aside.
type reservation struct{ id, amount int32 }

func newLedger(accounts int, balance int32) *ledger {
	l := &ledger{
		accounts:        make([]account, accounts),
		reservations:    map[int32]reservation{},
		unconfirmed:     map[int32]struct{}{},
		unconfirmedMax:  UnconfirmedMax,
		reservationsMax: ReservationsMax,
	}
	for i := range l.accounts {
		l.accounts[i].balance = balance
	}
	return l
}

// account is nil when there is none of that number.
func (l *ledger) account(id int32) *account {
	if id < 1 || int(id) > len(l.accounts) {
		return nil
	}
	return &l.accounts[id-1]
}

// confirm makes room for one more unconfirmed action and numbers it. It is the
// last that can fail: what follows changes the ledger.
func (l *ledger) confirm() (int32, error) {
	if len(l.unconfirmed) >= l.unconfirmedMax {
		return 0, ErrUnconfirmed
	}
	number, err := l.confirmation.next()
	if err != nil {
		return 0, err
	}
	l.unconfirmed[number] = struct{}{}
	return number, nil
}

// money is the sum of all balances.
func (l *ledger) money() int64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	sum := int64(0)
	for i := range l.accounts {
		sum += int64(l.accounts[i].balance)
	}
	return sum
}

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

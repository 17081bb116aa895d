package charging

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/contract"
)

// checkInvariant: 0 <= reserved <= balance for every account, and what is
// reserved is the sum of the reservations.
func (l *ledger) checkInvariant(t *testing.T) {
	t.Helper()
	reserved := make([]int64, len(l.accounts))
	for _, held := range l.reservations {
		reserved[held.id-1] += int64(held.amount)
	}
	for i, account := range l.accounts {
		if account.reserved < 0 || account.reserved > account.balance || int64(account.reserved) != reserved[i] {
			t.Fatalf("account %d: %+v, reservations of %d", i+1, account, reserved[i])
		}
	}
}

// randomCaller makes random calls and adds up the replies that it got.
type randomCaller struct {
	ledger     *ledger
	random     *rand.Rand
	change     int64 // of all balances together
	confirmed  []int32
	seen       map[int32]bool // confirmation numbers
	reserved   map[int32]int32
	unexpected []error
}

func (b *randomCaller) took(cn int32, err error, amount int64) bool {
	if err != nil {
		return false
	}
	b.change += amount
	b.seen[cn] = true
	b.confirmed = append(b.confirmed, cn)
	return true
}

func (b *randomCaller) step() {
	id, amount := b.random.Int32N(4)+1, b.random.Int32N(300)+1
	switch b.random.IntN(6) {
	case 0:
		reply, err := b.ledger.credit(&pb.CreditRequest{Id: id, Am: amount})
		b.took(reply.GetCn(), err, int64(amount))
	case 1:
		reply, err := b.ledger.directDebit(&pb.DirectDebitRequest{Id: id, Am: amount})
		b.took(reply.GetCn(), err, -int64(amount))
	case 2:
		reply, err := b.ledger.reserve(&pb.ReserveRequest{Id: id, Am: amount})
		if b.took(reply.GetCn(), err, 0) {
			b.reserved[reply.GetRes()] = id
		}
	case 3, 4:
		b.settle(amount)
	case 5:
		if last := len(b.confirmed) - 1; last >= 0 {
			if _, err := b.ledger.confirmAction(&pb.ConfirmActionRequest{Cn: b.confirmed[last]}); err != nil {
				b.unexpected = append(b.unexpected, err)
			}
			b.confirmed = b.confirmed[:last]
		}
	}
}

// settle ends one of its reservations.
func (b *randomCaller) settle(amount int32) {
	for res, id := range b.reserved {
		if b.random.IntN(2) == 0 {
			reply, err := b.ledger.releaseRes(&pb.ReleaseResRequest{Res: res})
			if !b.took(reply.GetCn(), err, 0) {
				b.unexpected = append(b.unexpected, err)
			}
			delete(b.reserved, res)
			return
		}
		reply, err := b.ledger.debitReservation(&pb.DebitReservationRequest{Id: id, Am: amount, Res: res})
		switch {
		case b.took(reply.GetCn(), err, -int64(amount)):
			delete(b.reserved, res)
		case err != ErrCredit:
			b.unexpected = append(b.unexpected, err)
		}
		return
	}
}

// TestMoneyIsNeitherLostNorMade: many callers at once on few accounts; the sum
// of balances moves by the replies, and no number is given twice.
func TestMoneyIsNeitherLostNorMade(t *testing.T) {
	const callers, steps, accounts, balance = 8, 5_000, 4, 1_000
	ledger := newLedger(accounts, balance)
	all := make([]*randomCaller, callers)
	var done sync.WaitGroup
	for i := range all {
		b := &randomCaller{ledger: ledger, random: rand.New(rand.NewPCG(uint64(i), 7)), seen: map[int32]bool{}, reserved: map[int32]int32{}}
		all[i] = b
		done.Go(func() {
			for range steps {
				b.step()
			}
		})
	}
	done.Wait()
	ledger.checkInvariant(t)
	money, confirmations, numbers := int64(accounts*balance), 0, map[int32]bool{}
	for _, b := range all {
		money += b.change
		confirmations += len(b.seen)
		for cn := range b.seen {
			numbers[cn] = true
		}
		for _, err := range b.unexpected {
			t.Errorf("refused, but nothing was wrong: %v", err)
		}
	}
	if ledger.money() != money || len(numbers) != confirmations || confirmations < callers*steps/4 {
		t.Errorf("%d units, want %d; %d numbers for %d actions", ledger.money(), money, len(numbers), confirmations)
	}
}

// row is a call that must leave everything as it was.
type row struct {
	request proto.Message
	want    error
}

// TestErrorsInTheOrderOfTheContract: of several errors, the first is returned, and
// nothing has changed.
func TestErrorsInTheOrderOfTheContract(t *testing.T) {
	ledger := newLedger(2, 1_000)
	reply, err := ledger.reserve(&pb.ReserveRequest{Id: 1, Am: 600})
	if err != nil {
		t.Fatal(err)
	}
	res := reply.GetRes()
	rows := []row{
		{&pb.CreditRequest{Id: 0, Am: 0}, ErrAmount},
		{&pb.CreditRequest{Id: 1, Am: math.MinInt32}, ErrAmount},
		{&pb.CreditRequest{Id: 0, Am: 1}, ErrAccount},
		{&pb.CreditRequest{Id: 3, Am: 1}, ErrAccount},
		{&pb.CreditRequest{Id: -1, Am: 1}, ErrAccount},
		{&pb.CreditRequest{Id: math.MinInt32, Am: 1}, ErrAccount},
		{&pb.CreditRequest{Id: 2, Am: math.MaxInt32 - 999}, ErrBalance},
		{&pb.DirectDebitRequest{Id: 9, Am: -1}, ErrAmount},
		{&pb.DirectDebitRequest{Id: 9, Am: 1}, ErrAccount},
		{&pb.DirectDebitRequest{Id: 1, Am: 401}, ErrCredit},
		{&pb.ReserveRequest{Id: 9, Am: 0}, ErrAmount},
		{&pb.ReserveRequest{Id: 9, Am: 1}, ErrAccount},
		{&pb.ReserveRequest{Id: 1, Am: 401}, ErrCredit},
		{&pb.DebitReservationRequest{Id: 9, Am: 0, Res: -1}, ErrAmount},
		{&pb.DebitReservationRequest{Id: 9, Am: 1, Res: res}, ErrAccount},
		{&pb.DebitReservationRequest{Id: 2, Am: 601, Res: res}, ErrReservation},
		{&pb.DebitReservationRequest{Id: 1, Am: 1, Res: res + 1}, ErrReservation},
		{&pb.DebitReservationRequest{Id: 1, Am: 601, Res: res}, ErrCredit},
		{&pb.ReleaseResRequest{Res: 0}, ErrReservation},
		{&pb.CreditControlRequest{}, ErrAccount},
		{&pb.ConfirmActionRequest{Cn: 0}, ErrConfirmation},
		{&pb.ConfirmActionRequest{Cn: reply.GetCn() + 1}, ErrConfirmation},
	}
	checkRows(t, ledger, rows)
	// With no room for another action, that error is returned, at its place.
	ledger.unconfirmedMax, ledger.reservationsMax = 1, 1
	checkRows(t, ledger, append(rows[:len(rows)-1],
		row{&pb.CreditRequest{Id: 1, Am: 1}, ErrUnconfirmed},
		row{&pb.DirectDebitRequest{Id: 1, Am: 400}, ErrUnconfirmed},
		row{&pb.ReserveRequest{Id: 1, Am: 400}, ErrUnconfirmed},
		row{&pb.DebitReservationRequest{Id: 1, Am: 600, Res: res}, ErrUnconfirmed},
		row{&pb.ReleaseResRequest{Res: res}, ErrUnconfirmed},
	))
	ledger.unconfirmedMax = 2
	checkRows(t, ledger, []row{{&pb.ReserveRequest{Id: 1, Am: 400}, ErrReservations}})
	ledger.confirmation.last = math.MaxInt32
	checkRows(t, ledger, []row{{&pb.CreditRequest{Id: 1, Am: 1}, errNumbers}})
}

func checkRows(t *testing.T, ledger *ledger, rows []row) {
	t.Helper()
	before := ledger.accounts[0]
	for _, row := range rows {
		if _, err := ledger.call(row.request); err != row.want {
			t.Errorf("%T %v: %v, want %v", row.request, row.request, err, row.want)
		}
	}
	if ledger.accounts[0] != before || len(ledger.unconfirmed) != 1 || len(ledger.reservations) != 1 {
		t.Errorf("%+v, %d unconfirmed, %d reservations", ledger.accounts[0], len(ledger.unconfirmed), len(ledger.reservations))
	}
	ledger.checkInvariant(t)
}

// call finds the operation by its request, through the contract's own table.
func (l *ledger) call(request proto.Message) (proto.Message, error) {
	for _, operation := range operations(l) {
		if operation.NewRequest().ProtoReflect().Descriptor() == request.ProtoReflect().Descriptor() {
			return operation.Answer(request)
		}
	}
	panic("no such request")
}

func operations(l *ledger) []contract.Operation { return newContract(l).Operations }

func TestDebitTakesFromTheReservationAndReleasesTheRest(t *testing.T) {
	ledger := newLedger(1, 1_000)
	reserved, err := ledger.reserve(&pb.ReserveRequest{Id: 1, Am: 1_000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.debitReservation(&pb.DebitReservationRequest{Id: 1, Am: 1, Res: reserved.GetRes()}); err != nil {
		t.Fatal(err)
	}
	if account := ledger.accounts[0]; account.balance != 999 || account.reserved != 0 || len(ledger.reservations) != 0 {
		t.Errorf("%+v, %d reservations", account, len(ledger.reservations))
	}
}

func TestBalanceCanBeFull(t *testing.T) {
	ledger := newLedger(1, math.MaxInt32-1)
	if _, err := ledger.credit(&pb.CreditRequest{Id: 1, Am: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.credit(&pb.CreditRequest{Id: 1, Am: 1}); err != ErrBalance {
		t.Error(err)
	}
	if _, err := ledger.directDebit(&pb.DirectDebitRequest{Id: 1, Am: math.MaxInt32}); err != nil {
		t.Error(err)
	}
}

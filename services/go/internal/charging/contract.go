// Package charging is the contract `charging` without a wire: accounts,
// reservations and confirmations. contracts/README.md is its definition.
package charging

import "wirelab/services/go/internal/contract"

// Limits of what a service holds.
const (
	BalanceMax      = 1<<31 - 1
	UnconfirmedMax  = 1_000_000
	ReservationsMax = 1_000_000
)

// Application errors, in no particular order; every operation checks them in
// the order of the contract.
const (
	ErrAmount       contract.ApplicationError = "amount must be positive"
	ErrAccount      contract.ApplicationError = "no such account"
	ErrBalance      contract.ApplicationError = "balance must not exceed 2147483647"
	ErrCredit       contract.ApplicationError = "not enough credit"
	ErrReservation  contract.ApplicationError = "unknown reservation"
	ErrConfirmation contract.ApplicationError = "unknown confirmation"
	ErrUnconfirmed  contract.ApplicationError = "too many unconfirmed actions"
	ErrReservations contract.ApplicationError = "too many reservations"
)

// New is the contract with that many accounts of that balance each.
func New(accounts int, balance int32) *contract.Contract {
	return newContract(newLedger(accounts, balance))
}

func newContract(ledger *ledger) *contract.Contract {
	return &contract.Contract{
		Name:    "charging",
		Service: "Charging",
		Operations: []contract.Operation{
			contract.Unary("Credit", ledger.credit),
			contract.Unary("DirectDebit", ledger.directDebit),
			contract.Unary("Reserve", ledger.reserve),
			contract.Unary("DebitReservation", ledger.debitReservation),
			contract.Unary("ReleaseRes", ledger.releaseRes),
			contract.Unary("CreditControl", ledger.creditControl),
			contract.Unary("ConfirmAction", ledger.confirmAction),
		},
		Money: ledger.money,
	}
}

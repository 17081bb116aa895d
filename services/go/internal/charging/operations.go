package charging

import (
	"math"

	pb "wirelab/services/go/chargingpb"
)

func (l *ledger) credit(request *pb.CreditRequest) (*pb.CreditReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	account, err := l.payable(request.GetId(), request.GetAm())
	if err != nil {
		return nil, err
	}
	if account.balance > math.MaxInt32-request.GetAm() {
		return nil, ErrBalance
	}
	cn, err := l.confirm()
	if err != nil {
		return nil, err
	}
	account.balance += request.GetAm()
	return &pb.CreditReply{Cn: cn}, nil
}

func (l *ledger) directDebit(request *pb.DirectDebitRequest) (*pb.DirectDebitReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	account, err := l.solvent(request.GetId(), request.GetAm())
	if err != nil {
		return nil, err
	}
	cn, err := l.confirm()
	if err != nil {
		return nil, err
	}
	account.balance -= request.GetAm()
	return &pb.DirectDebitReply{Cn: cn}, nil
}

func (l *ledger) reserve(request *pb.ReserveRequest) (*pb.ReserveReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	account, err := l.solvent(request.GetId(), request.GetAm())
	if err != nil {
		return nil, err
	}
	if len(l.unconfirmed) >= l.unconfirmedMax {
		return nil, ErrUnconfirmed
	}
	if len(l.reservations) >= l.reservationsMax {
		return nil, ErrReservations
	}
	res, err := l.reservation.next()
	if err != nil {
		return nil, err
	}
	cn, err := l.confirm()
	if err != nil {
		return nil, err
	}
	account.reserved += request.GetAm()
	l.reservations[res] = reservation{request.GetId(), request.GetAm()}
	return &pb.ReserveReply{Res: res, Cn: cn}, nil
}

func (l *ledger) debitReservation(request *pb.DebitReservationRequest) (*pb.DebitReservationReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	account, err := l.payable(request.GetId(), request.GetAm())
	if err != nil {
		return nil, err
	}
	held, known := l.reservations[request.GetRes()]
	if !known || held.id != request.GetId() {
		return nil, ErrReservation
	}
	if request.GetAm() > held.amount {
		return nil, ErrCredit
	}
	cn, err := l.confirm()
	if err != nil {
		return nil, err
	}
	account.balance -= request.GetAm()
	l.release(request.GetRes(), held)
	return &pb.DebitReservationReply{Cn: cn}, nil
}

func (l *ledger) releaseRes(request *pb.ReleaseResRequest) (*pb.ReleaseResReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	held, known := l.reservations[request.GetRes()]
	if !known {
		return nil, ErrReservation
	}
	cn, err := l.confirm()
	if err != nil {
		return nil, err
	}
	l.release(request.GetRes(), held)
	return &pb.ReleaseResReply{Cn: cn}, nil
}

func (l *ledger) creditControl(request *pb.CreditControlRequest) (*pb.CreditControlReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	account := l.account(request.GetId())
	if account == nil {
		return nil, ErrAccount
	}
	return &pb.CreditControlReply{Balance: account.balance, Reserved: account.reserved}, nil
}

func (l *ledger) confirmAction(request *pb.ConfirmActionRequest) (*pb.ConfirmActionReply, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if _, known := l.unconfirmed[request.GetCn()]; !known {
		return nil, ErrConfirmation
	}
	delete(l.unconfirmed, request.GetCn())
	return &pb.ConfirmActionReply{Cn: request.GetCn()}, nil
}

// payable checks an amount and finds the account.
func (l *ledger) payable(id, amount int32) (*account, error) {
	if amount <= 0 {
		return nil, ErrAmount
	}
	if account := l.account(id); account != nil {
		return account, nil
	}
	return nil, ErrAccount
}

// solvent is payable, and the amount is available.
func (l *ledger) solvent(id, amount int32) (*account, error) {
	account, err := l.payable(id, amount)
	if err == nil && account.available() < amount {
		return nil, ErrCredit
	}
	return account, err
}

// release ends a reservation and gives back all that was set aside.
func (l *ledger) release(res int32, held reservation) {
	l.account(held.id).reserved -= held.amount
	delete(l.reservations, res)
}

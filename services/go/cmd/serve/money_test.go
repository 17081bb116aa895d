package main

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// tally is of the replies to concurrent callers about a service's money.
type tally struct {
	t       *testing.T
	p       *process
	by      clientStack
	change  atomic.Int64
	numbers sync.Map
}

// did makes a call that may be refused; its confirmation number must be new.
func (b *tally) did(operation string, request, want map[string]any, amount int64) (reply map[string]any, ok bool) {
	got, problem := b.by.call(b.t, b.p, "charging", operation, request, want)
	if problem != "" {
		return nil, false
	}
	reply = got.(map[string]any)
	if _, again := b.numbers.LoadOrStore(reply["cn"], operation); again && operation != "ConfirmAction" {
		b.t.Errorf("%s gave number %v a second time", operation, reply["cn"])
	}
	b.change.Add(amount)
	return reply, true
}

func (b *tally) makeCalls(seed uint64, steps int) {
	random, number := rand.New(rand.NewPCG(seed, 3)), json.Number("1")
	cn := map[string]any{"cn": number}
	for range steps {
		amount := random.Int64N(300) + 1
		account := map[string]any{"id": random.IntN(3) + 1, "am": amount}
		switch random.IntN(3) {
		case 0:
			b.did("Credit", account, cn, amount)
		case 1:
			if debit, ok := b.did("DirectDebit", account, cn, -amount); ok {
				b.did("ConfirmAction", map[string]any{"cn": debit["cn"]}, cn, 0)
			}
		case 2:
			reserved, ok := b.did("Reserve", account, map[string]any{"cn": number, "res": number}, 0)
			if !ok {
				continue
			}
			account["res"] = reserved["res"]
			if _, ok := b.did("DebitReservation", account, cn, -amount); !ok {
				b.t.Errorf("a reservation of %d could not be debited", amount)
			}
		}
	}
}

// TestMoneyOverTheWire: callers at once on three accounts of every stack; the
// sum of balances, as the metrics have it, moves by the replies.
func TestMoneyOverTheWire(t *testing.T) {
	const callers, steps, accounts, balance = 4, 60, 3, 1_000
	for _, clientStack := range clientStacks() {
		t.Run(clientStack.name, func(t *testing.T) {
			p := start(t, clientStack.config.with("contract", "charging").with("store.accounts", accounts).with("store.balance", balance))
			replies := &tally{t: t, p: p, by: clientStack}
			var done sync.WaitGroup
			for seed := range callers {
				done.Go(func() { replies.makeCalls(uint64(seed), steps) })
			}
			done.Wait()
			values := metrics(t, p)
			want := float64(accounts*balance + replies.change.Load())
			if got, there := values["wirelab_money_total"]; !there || got != want {
				t.Errorf("%v units, want %v", got, want)
			}
			if calls := values[`wirelab_calls_total{operation="Credit"}`]; calls < 1 || values["wirelab_calls_in_flight"] != 0 {
				t.Errorf("%v credits counted, %v in flight", calls, values["wirelab_calls_in_flight"])
			}
		})
	}
}

func TestMoneyIsOfChargingOnly(t *testing.T) {
	if _, there := metrics(t, start(t, restJSON))["wirelab_money_total"]; there {
		t.Error("transfer has money")
	}
	if money := metrics(t, start(t, restJSON.with("contract", "charging")))["wirelab_money_total"]; money != 1e12 {
		t.Errorf("%v units by default", money)
	}
}

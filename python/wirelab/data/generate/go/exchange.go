package main

import (
	"net/http"

	"service/rules"
)

// exchange is one call: it answers the body of a request by that of the reply.
type exchange func(request []byte) (reply []byte, err error)

// exchangeOf decodes the sample reply, once. Each call decodes its request, and makes and encodes
// a reply of its own.
func exchangeOf[Q, R any](format codec, digest func(*Q) uint64, copied func(*R, rules.Number) *R,
	sample []byte, inText bool) (exchange, error) {
	reply := new(R)
	if err := format.readReply(sample, reply); err != nil {
		return nil, err
	}
	return func(body []byte) ([]byte, error) {
		request := new(Q)
		if err := format.readRequest(body, request); err != nil {
			return nil, err
		}
		text, err := format.write(copied(reply, rules.NumberOf(digest(request), inText)))
		if err != nil {
			return nil, &httpError{http.StatusInternalServerError, err.Error()}
		}
		return text, nil
	}, nil
}

package service

// Refusal says that the service cannot be what it was asked to be: which
// option, why, and what to do.
type Refusal struct {
	Option  string `json:"option"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

func (r *Refusal) Error() string {
	return r.Option + ": " + r.Message + " (" + r.Remedy + ")"
}

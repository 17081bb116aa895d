package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// codecTimes is the status of GET /codec-times, and its document where that is 200.
func codecTimes(t *testing.T, p *process, query string) (int, codecTimesDocument) {
	t.Helper()
	response, err := http.Get("http://" + p.Metrics + "/codec-times?" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var document codecTimesDocument
	if response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return response.StatusCode, document
}

type codecTimesDocument struct {
	Operation      string
	Bytes          int
	SHA256         string
	Encode, Decode []codecBatch
}

type codecBatch struct {
	Runs int
	Ns   int64
}

// checkTimed checks that the document is of the body that a caller was sent.
func checkTimed(t *testing.T, p *process, operation string, body []byte) {
	t.Helper()
	status, times := codecTimes(t, p, "operation="+operation+"&seconds=0.02")
	digest := sha256.Sum256(body)
	if status != http.StatusOK || times.Operation != operation || times.Bytes != len(body) ||
		times.SHA256 != hex.EncodeToString(digest[:]) {
		t.Fatalf("%d %+v of a reply of %d bytes: %.80q", status, times, len(body), body)
	}
	if len(times.Encode) == 0 || len(times.Encode) != len(times.Decode) || times.Encode[0].Runs != 1 {
		t.Errorf("batches: %+v", times)
	}
	for _, batches := range [][]codecBatch{times.Encode, times.Decode} {
		for i, batch := range batches[1:] {
			runs := batches[i].Runs
			if batches[i].Ns < 5_000_000 {
				runs *= 2
			}
			if batch.Runs != runs || batch.Ns <= 0 {
				t.Errorf("%+v after %+v in %+v", batch, batches[i], times)
			}
		}
	}
}

func TestWhatIsTimedAreTheBytesOfTheReply(t *testing.T) {
	for _, codec := range []string{"json", "protobuf", "xml", "cbor", "msgpack", "avro"} {
		t.Run(codec, func(t *testing.T) {
			p := start(t, stack("rest", codec, "http/1.1").with("codec_times", true))
			checkTimed(t, p, "Hello", mustCall(t, p, "http/1.1", "GET", "/transfer/hello", nil).body)
		})
	}
	for _, codec := range []string{"json", "protobuf"} {
		t.Run("petclinic as "+codec, func(t *testing.T) {
			p := start(t, stack("rest", codec, "http/1.1").with("contract", "petclinic").with("codec_times", true))
			for operation, path := range map[string]string{"ListOwners": "/owners", "ListPetTypes": "/pettypes", "GetPet": "/pets/8"} {
				checkTimed(t, p, operation, mustCall(t, p, "http/1.1", "GET", "/petclinic/api"+path, nil).body)
			}
		})
	}
}

func TestNothingIsTimedThatIsNotKept(t *testing.T) {
	for name, row := range map[string]struct {
		config options
		query  string
		status int
	}{
		"not asked for":    {restJSON, "operation=Hello&seconds=1", 404},
		"never called":     {restJSON.with("codec_times", true), "operation=Submit&seconds=1", 404},
		"no operation":     {restJSON.with("codec_times", true), "operation=Nothing&seconds=1", 404},
		"for ever":         {restJSON.with("codec_times", true), "operation=Hello&seconds=1e9", 400},
		"a time in words":  {restJSON.with("codec_times", true), "operation=Hello&seconds=long", 400},
		"less than a time": {restJSON.with("codec_times", true), "operation=Hello&seconds=-1", 400},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, row.config)
			mustCall(t, p, "http/1.1", "GET", "/transfer/hello", nil)
			if status, times := codecTimes(t, p, row.query); status != row.status {
				t.Errorf("%d %+v, not %d", status, times, row.status)
			}
		})
	}
}

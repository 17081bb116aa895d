package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/streampb"
)

// streamStacks are all stacks of contract stream.
func streamStacks() []options {
	var stacks []options
	for _, words := range [][3]string{{"rest", "json", "http/1.1"}, {"rest", "json", "http/2"},
		{"sse", "json", "http/1.1"}, {"sse", "json", "http/2"}, {"grpc", "protobuf", "http/2"},
		{"websocket", "json", "http/1.1"}, {"websocket", "protobuf", "http/1.1"},
		{"connect", "protobuf", "http/1.1"}, {"connect", "json", "http/1.1"}, {"connect", "protobuf", "http/2"}} {
		stacks = append(stacks, stack(words[0], words[1], words[2]).with("contract", "stream"))
	}
	return stacks
}

func nameOf(config options) string {
	return fmt.Sprint(config["stack.binding"], " ", config["stack.codec"], " ", config["stack.transport"])
}

// helloStream reads a stream of one item over HTTP.
func helloStream(p *process, config options) error {
	if config["stack.binding"] == "websocket" {
		return helloWebsocket(p, config)
	}
	answer, err := call(p, config["stack.transport"].(string), "POST", "/stream/feed",
		[]byte(`{"count":1,"bytes":16,"seed":1,"pattern":"constant"}`), "Content-Type", "application/json")
	if err == nil && (answer.StatusCode != 200 || !bytes.Contains(answer.body, []byte("eEWO0hwqB5uHPb9k"))) {
		err = fmt.Errorf("status %d, body %q", answer.StatusCode, answer.body)
	}
	return err
}

// eachStreamStack runs a test on every stack.
func eachStreamStack(t *testing.T, test func(t *testing.T, p *process, config options)) {
	t.Helper()
	for _, config := range streamStacks() {
		t.Run(nameOf(config), func(t *testing.T) { test(t, start(t, config), config) })
	}
}

// feed is a stream of items; next returns io.EOF after the last of them.
type feed struct {
	next  func() (*pb.Item, error)
	close func()
}

// openFeed begins a Feed; an error is one that the service answered.
func openFeed(t *testing.T, p *process, config options, request *pb.FeedRequest) (*feed, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if config["stack.binding"] == "grpc" {
		stream, err := streamClient(t, p).Feed(ctx, request)
		if err != nil {
			return nil, err
		}
		return &feed{stream.Recv, cancel}, nil
	}
	if config["stack.binding"] == "connect" {
		return openConnectFeed(t, ctx, p, config, request, cancel)
	}
	if config["stack.binding"] == "websocket" {
		client := dialWebsocket(t, p, config, "/stream/feed")
		client.send(t, request)
		return &feed{client.readItem, func() { _ = client.conn.CloseNow() }}, nil
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	response := postStream(t, ctx, p, config, "/stream/feed", bytes.NewReader(body), "Content-Type", "application/json")
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return nil, fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	return &feed{readEvents(t, config, response), cancel}, nil
}

func streamClient(t *testing.T, p *process) pb.StreamClient {
	t.Helper()
	connection, err := dialGRPC(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return pb.NewStreamClient(connection)
}

// postStream returns when the head of the reply has come.
func postStream(t *testing.T, ctx context.Context, p *process, config options, path string, body io.Reader,
	header ...string) *http.Response {
	t.Helper()
	client := newHTTPClient(p, config["stack.transport"].(string))
	t.Cleanup(client.CloseIdleConnections)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := client.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// readEvents reads the lines of NDJSON, or the events as contracts/README.md spells them.
func readEvents(t *testing.T, config options, response *http.Response) func() (*pb.Item, error) {
	t.Helper()
	want := map[any]string{"rest": "application/x-ndjson", "sse": "text/event-stream"}[config["stack.binding"]]
	if got := response.Header.Get("Content-Type"); got != want {
		t.Errorf("content type %q", got)
	}
	lines, index := bufio.NewReader(response.Body), 0
	return func() (*pb.Item, error) {
		expected := []string{"id: " + fmt.Sprint(index) + "\n", "data: ", "\n"}
		if config["stack.binding"] == "rest" {
			expected = []string{""}
		}
		item := &pb.Item{}
		for _, begin := range expected {
			line, err := lines.ReadString('\n')
			if err != nil {
				return nil, err
			}
			rest, ok := strings.CutPrefix(line, begin)
			if !ok || (rest != "" && !json.Valid([]byte(rest))) {
				t.Errorf("line %q", line)
			}
			if rest != "" {
				if err := json.Unmarshal([]byte(rest), item); err != nil {
					return nil, err
				}
			}
		}
		index++
		return item, nil
	}
}

// streamVectors are the feeds and pushes of the golden vectors.
func streamVectors(t *testing.T) (vectors struct {
	Feeds []struct {
		Name    string
		Request *pb.FeedRequest
		Items   []*pb.Item
	}
	Refused []struct {
		Name    string
		Request *pb.FeedRequest
		Error   string
	}
	Pushes []struct {
		Name  string
		Items []*pb.Item
		Reply *pb.PushReply
		Error string
	}
}) {
	t.Helper()
	text, err := os.ReadFile("../../../../contracts/vectors/streams.json")
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestFeedsAreThoseOfTheVectors(t *testing.T) {
	const longestNS = int64(time.Second)
	eachStreamStack(t, func(t *testing.T, p *process, config options) {
		for _, row := range streamVectors(t).Feeds {
			if row.Items[len(row.Items)-1].GetDueNs() > longestNS {
				continue
			}
			items, err := openFeed(t, p, config, row.Request)
			if err != nil {
				t.Fatalf("%s: %v", row.Name, err)
			}
			checkFeed(t, row.Name, items, row.Items)
		}
	})
}

func checkFeed(t *testing.T, name string, items *feed, want []*pb.Item) {
	t.Helper()
	var receivedNS int64
	for _, expected := range want {
		item, err := items.next()
		if err != nil {
			t.Fatalf("%s: item %d: %v", name, expected.GetIndex(), err)
		}
		if item.GetIndex() == 0 {
			receivedNS = item.GetReceivedNs()
		}
		if item.GetSentNs() < receivedNS+item.GetDueNs() {
			t.Errorf("%s: item %d is early", name, item.GetIndex())
		}
		item.SentNs, item.ReceivedNs = 0, 0
		if !proto.Equal(item, expected) {
			t.Errorf("%s: %v, want %v", name, item, expected)
		}
	}
	if _, err := items.next(); !errors.Is(err, io.EOF) {
		t.Errorf("%s: after the last item: %v", name, err)
	}
}

func TestFeedsBeyondALimitAreRefusedByName(t *testing.T) {
	eachStreamStack(t, func(t *testing.T, p *process, config options) {
		rows := streamVectors(t).Refused
		for _, row := range rows {
			items, err := openFeed(t, p, config, row.Request)
			if err == nil {
				_, err = items.next()
			}
			want := `status 400: {"error":"` + row.Error + `"}`
			if config["stack.binding"] == "websocket" {
				want = `{"error":"` + row.Error + `"}`
			}
			if config["stack.binding"] == "grpc" {
				checkStatus(t, err, codes.InvalidArgument, row.Error)
			} else if config["stack.binding"] == "connect" {
				checkConnectError(t, err, row.Error)
			} else if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", row.Name, err, want)
			}
		}
		checkCounts(t, metrics(t, p), map[string]float64{`wirelab_errors_total{operation="Feed"}`: float64(len(rows)),
			"wirelab_stream_items_total": 0, "wirelab_stream_cancelled_total": 0})
	})
}

// TestItemsAreSentOneByOne: the second item is due long after the first was read.
func TestItemsAreSentOneByOne(t *testing.T) {
	eachStreamStack(t, func(t *testing.T, p *process, config options) {
		items, err := openFeed(t, p, config, &pb.FeedRequest{Count: 2, GapUs: 300_000, Pattern: "constant"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := items.next(); err != nil || time.Since(start) > 200*time.Millisecond {
			t.Errorf("first item: %v after %v", err, time.Since(start))
		}
		if item, err := items.next(); err != nil || item.GetIndex() != 1 {
			t.Errorf("second item: %v, %v", item, err)
		}
	})
}

// bodyStacks are those whose messages are in the body of one reply of HTTP.
func bodyStacks() []options {
	return slices.DeleteFunc(streamStacks(), func(config options) bool {
		return config["stack.binding"] != "rest" && config["stack.binding"] != "sse"
	})
}

// TestItemsWaitForTheBuffersOfTheLibrary: with flush=library the first item comes with many others, or with
// the end of the stream.
func TestItemsWaitForTheBuffersOfTheLibrary(t *testing.T) {
	for _, config := range bodyStacks() {
		t.Run(nameOf(config), func(t *testing.T) {
			p := start(t, config.with("stack.flush", "library"))
			const gap = 20 * time.Millisecond
			begin := time.Now()
			items, err := openFeed(t, p, config, &pb.FeedRequest{Count: 20, GapUs: gap.Microseconds(), Pattern: "constant"})
			if err == nil {
				_, err = items.next()
			}
			if waited := time.Since(begin); err != nil || waited < 19*gap {
				t.Errorf("20 short items: %v after %v", err, waited)
			}
			// 2 kB and 4 kB are full after fewer than 20 items of 1 kB, each of a quarter second.
			begin = time.Now()
			items, err = openFeed(t, p, config, &pb.FeedRequest{Count: 40, Bytes: 1000, GapUs: gap.Microseconds(),
				Pattern: "constant"})
			if err == nil {
				_, err = items.next()
			}
			if waited := time.Since(begin); err != nil || waited < gap || waited > 39*gap {
				t.Errorf("items of 1 kB: %v after %v", err, waited)
			}
		})
	}
}

// TestCompressedItemsAreSentOneByOne: each can be decompressed when it comes, and the body has its end.
func TestCompressedItemsAreSentOneByOne(t *testing.T) {
	for _, config := range bodyStacks() {
		for coding := range codings {
			t.Run(nameOf(config)+" "+coding, func(t *testing.T) {
				p := start(t, config.with("stack.compression", coding))
				body := []byte(`{"count":3,"bytes":16,"gap_us":300000,"seed":1,"pattern":"constant"}`)
				response := postStream(t, t.Context(), p, config, "/stream/feed", bytes.NewReader(body),
					"Content-Type", "application/json", "Accept-Encoding", coding)
				if got := response.Header.Get("Content-Encoding"); got != coding {
					t.Fatalf("content-encoding %q", got)
				}
				begin := time.Now()
				plain, err := codings[coding].reader(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				response.Body = io.NopCloser(plain)
				next := readEvents(t, config, response)
				if _, err := next(); err != nil || time.Since(begin) > 250*time.Millisecond {
					t.Errorf("first item: %v after %v", err, time.Since(begin))
				}
				for range 2 {
					if _, err := next(); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := next(); !errors.Is(err, io.EOF) {
					t.Errorf("after the last item: %v", err)
				}
			})
		}
	}
}

func TestACancelledFeedEnds(t *testing.T) {
	eachStreamStack(t, func(t *testing.T, p *process, config options) {
		items, err := openFeed(t, p, config, &pb.FeedRequest{Count: 60, GapUs: 60_000_000, Pattern: "constant"})
		if err == nil {
			_, err = items.next()
		}
		if err != nil {
			t.Fatal(err)
		}
		items.close()
		waitForCounts(t, p, map[string]float64{"wirelab_calls_in_flight": 0, "wirelab_stream_cancelled_total": 1,
			"wirelab_stream_items_total": 1})
	})
}

// waitForCounts polls the metrics for at most ten seconds.
func waitForCounts(t *testing.T, p *process, want map[string]float64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		got := metrics(t, p)
		if !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(name string) bool { return got[name] != want[name] }) {
			return
		}
	}
	checkCounts(t, metrics(t, p), want)
}

// TestASlowReaderHoldsTheServiceUp: what it does not read is not stored, and counts as late.
func TestASlowReaderHoldsTheServiceUp(t *testing.T) {
	eachStreamStack(t, func(t *testing.T, p *process, config options) {
		// Far more than sockets and windows take.
		const count = 1000
		items, err := openFeed(t, p, config, &pb.FeedRequest{Count: count, Bytes: 65_536, Pattern: "constant"})
		if err == nil {
			_, err = items.next()
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		sent := metrics(t, p)["wirelab_stream_items_total"]
		checkNear(t, "items sent to a reader that does not read", sent, 1, count/2)
		for range count - 1 {
			if _, err := items.next(); err != nil {
				t.Fatal(err)
			}
		}
		got := metrics(t, p)
		checkNear(t, "late items", got["wirelab_stream_late_items_total"], count/2, count)
	})
}

func TestPushesAreThoseOfTheVectors(t *testing.T) {
	eachStreamStack(t, func(t *testing.T, p *process, config options) {
		for _, row := range streamVectors(t).Pushes {
			switch config["stack.binding"] {
			case "grpc":
				reply, err := pushGRPC(t, p, row.Items)
				if row.Error != "" {
					checkStatus(t, err, codes.InvalidArgument, row.Error)
				} else if err != nil || !proto.Equal(reply, row.Reply) {
					t.Errorf("%s: %v, %v", row.Name, reply, err)
				}
			case "connect":
				reply, err := pushConnect(t, p, config, row.Items)
				if row.Error != "" {
					checkConnectError(t, err, row.Error)
				} else if err != nil || !proto.Equal(reply, row.Reply) {
					t.Errorf("%s: %v, %v", row.Name, reply, err)
				}
			case "websocket":
				checkWebsocketPush(t, dialWebsocket(t, p, config, "/stream/push"), row.Items, row.Reply, row.Error)
			case "rest":
				checkPush(t, p, config, pushLines(t, row.Items), row.Reply, row.Error)
			case "sse":
				answer := postStream(t, t.Context(), p, config, "/stream/push", bytes.NewReader(nil))
				if answer.StatusCode != http.StatusNotFound {
					t.Errorf("status %d", answer.StatusCode)
				}
			}
		}
	})
}

func pushGRPC(t *testing.T, p *process, items []*pb.Item) (*pb.PushReply, error) {
	t.Helper()
	stream, err := streamClient(t, p).Push(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if err := stream.Send(item); errors.Is(err, io.EOF) {
			break // the service has answered already
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return stream.CloseAndRecv()
}

func pushLines(t *testing.T, items []*pb.Item) string {
	t.Helper()
	var lines strings.Builder
	for _, item := range items {
		if err := json.NewEncoder(&lines).Encode(item); err != nil {
			t.Fatal(err)
		}
	}
	return lines.String()
}

func checkPush(t *testing.T, p *process, config options, lines string, want *pb.PushReply, refused string) {
	t.Helper()
	// A reader of unknown length is sent in chunks.
	answer := postStream(t, t.Context(), p, config, "/stream/push", io.MultiReader(strings.NewReader(lines)),
		"Content-Type", "application/x-ndjson")
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if refused != "" {
		if answer.StatusCode != http.StatusBadRequest || string(text) != `{"error":"`+refused+`"}` {
			t.Errorf("status %d, %s", answer.StatusCode, text)
		}
		return
	}
	reply := &pb.PushReply{}
	if err := json.Unmarshal(text, reply); err != nil || answer.StatusCode != http.StatusOK || !proto.Equal(reply, want) {
		t.Errorf("%v: status %d, %s", err, answer.StatusCode, text)
	}
}

func TestLinesThatAreNotItemsAreRefused(t *testing.T) {
	config := streamStacks()[0]
	p := start(t, config)
	for name, row := range map[string]struct {
		lines, contentType string
		status             int
	}{
		"not JSON":          {"{\n", "application/x-ndjson", 400},
		"not UTF-8":         {"{\"text\":\"\xff\"}\n", "application/x-ndjson", 400},
		"empty line":        {"\n", "application/x-ndjson", 400},
		"endless line":      {strings.Repeat(" ", 10<<20), "application/x-ndjson", 413},
		"another type":      {"{}\n", "application/json", 415},
		"last without LF":   {"{}", "application/x-ndjson", 200},
		"unknown field":     {"{\"more\":1}\n", "application/x-ndjson", 200},
		"text over 64 KiB":  {`{"text":"` + strings.Repeat("a", 65_537) + "\"}\n", "application/x-ndjson", 400},
		"text of the limit": {`{"text":"` + strings.Repeat("a", 65_536) + "\"}\n", "application/x-ndjson", 200},
	} {
		answer, err := call(p, "http/1.1", "POST", "/stream/push", []byte(row.lines), "Content-Type", row.contentType)
		// The service may close before it has read all of what it refuses.
		if err != nil && row.status == 413 {
			continue
		}
		if err != nil || answer.StatusCode != row.status {
			t.Errorf("%s: %v, status %v", name, err, answer)
		}
	}
}

func TestFeedNegotiatesItsTypes(t *testing.T) {
	for _, config := range streamStacks()[:4] {
		p := start(t, config)
		for _, row := range []struct {
			method, contentType, accept string
			status                      int
		}{{"POST", "application/json", "text/html", 406}, {"POST", "text/plain", "*/*", 415}, {"GET", "", "*/*", 405}} {
			answer := mustCall(t, p, p.transport, row.method, "/stream/feed", []byte("{}"),
				"Content-Type", row.contentType, "Accept", row.accept)
			if answer.StatusCode != row.status {
				t.Errorf("%s: %s: status %d, want %d", nameOf(config), row.accept, answer.StatusCode, row.status)
			}
		}
	}
}

func TestChatAnswersItemByItem(t *testing.T) {
	p := start(t, grpcOnly.with("contract", "stream"))
	stream, err := streamClient(t, p).Chat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"a", "", "Größe", "😀"} {
		if err := stream.Send(&pb.Item{Index: int32(i), Text: text}); err != nil {
			t.Fatal(err)
		}
		item, err := stream.Recv()
		if err != nil || item.GetText() != text || item.GetIndex() != int32(i) ||
			item.GetReceivedNs() == 0 || item.GetSentNs() < item.GetReceivedNs() {
			t.Errorf("%v, %v", item, err)
		}
	}
	if err := stream.Send(&pb.Item{Index: 7}); err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	checkStatus(t, err, codes.InvalidArgument, "items must be numbered from 0 without gaps")
	checkCounts(t, metrics(t, p), map[string]float64{"wirelab_stream_items_total": 4,
		"wirelab_stream_cancelled_total": 0, `wirelab_errors_total{operation="Chat"}`: 1})
}

func TestStreamsAreNotOfferedElsewhere(t *testing.T) {
	of := options.with
	for _, row := range []struct {
		config       options
		option, word string
	}{
		{of(restJSON, "contract", "stream").with("stack.codec", "xml"), "stack.codec", "codec=json"},
		{of(restJSON, "contract", "stream").with("stack.transport", "http/1.0"), "stack.transport", "http/1.1"},
		{of(restJSON, "contract", "stream").with("stack.compression", "br"), "stack.compression", "zstd"},
		{of(restJSON, "contract", "stream").with("stack.flush", "often"), "stack.flush", "library"},
		{of(restJSON, "contract", "stream").with("stack.flush", "library").with("stack.compression", "gzip"),
			"stack.flush", "flush=item"},
		{restJSON.with("stack.flush", "library"), "stack.flush", "flush=item"},
		{websocketJSON.with("stack.flush", "library"), "stack.flush", "flush=item"},
		{of(soapOnly, "contract", "stream"), "contract", "another binding"},
		{of(restJSON, "stack.binding", "sse"), "contract", "another"},
		{of(restJSON, "stack.binding", "websocket"), "contract", "another"},
		{websocketJSON.with("stack.codec", "xml"), "stack.codec", "codec=json"},
		{websocketJSON.with("stack.transport", "http/2"), "stack.transport", "http/1.1"},
		{websocketJSON.with("stack.compression", "gzip"), "stack.compression", "none"},
		{websocketJSON.with("stack.end_of_message", "chunked"), "stack.end_of_message", "content-length"},
	} {
		checkRefused(t, row.config.line(t), row.option, row.word)
	}
}

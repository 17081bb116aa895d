package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/streampb"
)

// messageBytesMax is the longest message that a service reads (contracts/README.md).
const messageBytesMax = 394_240

var websocketJSON = stack("websocket", "json", "http/1.1").with("contract", "stream")

// eachWebsocketStack runs a test with both codecs.
func eachWebsocketStack(t *testing.T, test func(t *testing.T, p *process, config options)) {
	t.Helper()
	for _, codec := range []string{"json", "protobuf"} {
		config := websocketJSON.with("stack.codec", codec)
		t.Run(codec, func(t *testing.T) { test(t, start(t, config), config) })
	}
}

// websocketClient speaks one codec.
type websocketClient struct {
	conn      *websocket.Conn
	ctx       context.Context
	kind      websocket.MessageType
	marshal   func(proto.Message) ([]byte, error)
	unmarshal func([]byte, proto.Message) error
}

// openWebsocket fails where the service does not upgrade the connection.
func openWebsocket(ctx context.Context, p *process, config options,
	path string) (*websocketClient, error) {
	scheme := "http"
	if p.security != nil {
		scheme = "https"
	}
	conn, _, err := websocket.Dial(ctx, scheme+"://localhost"+path,
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: newHTTPClient(p, "http/1.1")}})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 20)
	client := &websocketClient{conn: conn, ctx: ctx, kind: websocket.MessageText,
		marshal:   func(message proto.Message) ([]byte, error) { return json.Marshal(message) },
		unmarshal: func(text []byte, into proto.Message) error { return json.Unmarshal(text, into) }}
	if config["stack.codec"] == "protobuf" {
		client.kind, client.marshal, client.unmarshal = websocket.MessageBinary, proto.Marshal, proto.Unmarshal
	}
	return client, nil
}

func dialWebsocket(t *testing.T, p *process, config options, path string) *websocketClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	client, err := openWebsocket(ctx, p, config, path)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	t.Cleanup(func() { _ = client.conn.CloseNow() })
	return client
}

func (c *websocketClient) send(t *testing.T, message proto.Message) {
	t.Helper()
	text, err := c.marshal(message)
	if err == nil {
		err = c.conn.Write(c.ctx, c.kind, text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c *websocketClient) end(t *testing.T) {
	t.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageText, nil); err != nil {
		t.Fatal(err)
	}
}

// read returns io.EOF at the end of a stream, and the error that the service answered.
func (c *websocketClient) read(into proto.Message) error {
	kind, text, err := c.conn.Read(c.ctx)
	switch {
	case err != nil:
		return fmt.Errorf("the connection ended: %v, %w", err, websocket.CloseError{Code: websocket.CloseStatus(err)})
	case kind == websocket.MessageText && len(text) == 0:
		return io.EOF
	case kind == websocket.MessageText && bytes.HasPrefix(text, []byte(`{"error":`)):
		return errors.New(string(text))
	case kind != c.kind:
		return fmt.Errorf("a message of kind %v: %.200q", kind, text)
	}
	return c.unmarshal(text, into)
}

func (c *websocketClient) readItem() (*pb.Item, error) {
	item := &pb.Item{}
	return item, c.read(item)
}

// checkFailure expects an error and then an end.
func (c *websocketClient) checkFailure(t *testing.T, want string) {
	t.Helper()
	if err := c.read(&pb.Item{}); err == nil || !strings.HasPrefix(err.Error(), `{"error":"`+want) {
		t.Errorf("answered with %v, want the error %s", err, want)
	}
	c.checkEnd(t)
}

func (c *websocketClient) checkEnd(t *testing.T) {
	t.Helper()
	if err := c.read(&pb.Item{}); !errors.Is(err, io.EOF) {
		t.Errorf("answered with %v, want an end", err)
	}
}

func (c *websocketClient) checkClosed(t *testing.T, want websocket.StatusCode) {
	t.Helper()
	_, _, err := c.conn.Read(c.ctx)
	if got := websocket.CloseStatus(err); got != want {
		t.Errorf("closed with status %v, want %v: %v", got, want, err)
	}
}

// helloWebsocket reads a stream of one item.
func helloWebsocket(p *process, config options) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := openWebsocket(ctx, p, config, "/stream/feed")
	if err != nil {
		return err
	}
	defer client.conn.CloseNow()
	text, err := client.marshal(&pb.FeedRequest{Count: 1, Bytes: 16, Seed: 1, Pattern: "constant"})
	if err == nil {
		err = client.conn.Write(ctx, client.kind, text)
	}
	if err != nil {
		return err
	}
	if item, err := client.readItem(); err != nil || item.GetText() != "eEWO0hwqB5uHPb9k" {
		return fmt.Errorf("%v, %v", item, err)
	}
	if err := client.read(&pb.Item{}); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the item: %v", err)
	}
	return client.conn.Close(websocket.StatusNormalClosure, "")
}

// checkWebsocketPush sends all items, also those after one that is refused.
func checkWebsocketPush(t *testing.T, client *websocketClient, items []*pb.Item,
	want *pb.PushReply, refused string) {
	t.Helper()
	for _, item := range items {
		client.send(t, item)
	}
	client.end(t)
	if refused != "" {
		client.checkFailure(t, refused)
		return
	}
	reply := &pb.PushReply{}
	if err := client.read(reply); err != nil || !proto.Equal(reply, want) {
		t.Errorf("%v, %v, want %v", err, reply, want)
	}
	client.checkEnd(t)
}

func TestFeedsFollowEachOtherOnOneConnection(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/feed")
		rows := streamVectors(t).Feeds
		for _, row := range slices.Concat(rows, rows) {
			if row.Items[len(row.Items)-1].GetDueNs() > int64(300*time.Millisecond) {
				continue
			}
			client.send(t, &pb.FeedRequest{Count: -1})
			client.checkFailure(t, "count must be 1 to 1000000")
			client.send(t, row.Request)
			checkFeed(t, row.Name, &feed{next: client.readItem}, row.Items)
		}
		got := metrics(t, p)
		if got[`wirelab_calls_total{operation="Feed"}`] != 2*got[`wirelab_errors_total{operation="Feed"}`] {
			t.Errorf("counted %v", got)
		}
		checkCounts(t, got, map[string]float64{"wirelab_connections_total": 1, "wirelab_calls_in_flight": 0,
			"wirelab_stream_cancelled_total": 0})
	})
}

// TestARequestThatComesEarlyWaits: the service has read it, and serves it later.
func TestARequestThatComesEarlyWaits(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/feed")
		for range 3 {
			client.send(t, &pb.FeedRequest{Count: 3, GapUs: 20_000, Pattern: "constant"})
		}
		for range 3 {
			for i := range int32(3) {
				if item, err := client.readItem(); err != nil || item.GetIndex() != i {
					t.Fatalf("%v, %v, want item %d", item, err, i)
				}
			}
			client.checkEnd(t)
		}
	})
}

func TestPushesFollowEachOtherOnOneConnection(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/push")
		refused := 0.
		for _, row := range streamVectors(t).Pushes {
			checkWebsocketPush(t, client, row.Items, row.Reply, row.Error)
			if row.Error != "" {
				refused++
			}
		}
		if refused == 0 {
			t.Error("no vector is refused")
		}
		checkCounts(t, metrics(t, p), map[string]float64{`wirelab_errors_total{operation="Push"}`: refused,
			"wirelab_calls_in_flight": 0, "wirelab_connections_total": 1})
	})
}

// TestARefusedStreamIsDropped: the error comes before the client's end, and what it sends
// until then does not count.
func TestARefusedStreamIsDropped(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/push")
		for range 2 {
			client.send(t, &pb.Item{Index: 5})
			client.checkFailure(t, "items must be numbered from 0 without gaps")
			for range 100 {
				client.send(t, &pb.Item{Text: strings.Repeat("a", 65_536)})
			}
			client.end(t)
		}
		checkWebsocketPush(t, client, nil, &pb.PushReply{
			Sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, "")
		checkCounts(t, metrics(t, p), map[string]float64{`wirelab_calls_total{operation="Push"}`: 3,
			`wirelab_errors_total{operation="Push"}`: 2})
	})
}

func TestChatOverWebSocketAnswersItemByItem(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/chat")
		texts := []string{"a", "", "Größe", "😀", strings.Repeat("\x01", 65_536)}
		for range 2 {
			for i, text := range texts {
				client.send(t, &pb.Item{Index: int32(i), Text: text})
				item, err := client.readItem()
				if err != nil || item.GetText() != text || item.GetIndex() != int32(i) ||
					item.GetReceivedNs() == 0 || item.GetSentNs() < item.GetReceivedNs() {
					t.Fatalf("%v, %v", item, err)
				}
			}
			client.end(t)
			client.checkEnd(t)
		}
		client.send(t, &pb.Item{Index: 7})
		client.checkFailure(t, "items must be numbered from 0 without gaps")
		checkCounts(t, metrics(t, p), map[string]float64{"wirelab_stream_items_total": float64(2 * len(texts)),
			"wirelab_stream_cancelled_total": 0, `wirelab_calls_total{operation="Chat"}`: 3,
			`wirelab_errors_total{operation="Chat"}`: 1})
	})
}

func TestAMessageThatIsNotOfTheCodecIsAnswered(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		feeds := dialWebsocket(t, p, config, "/stream/feed")
		pushes := dialWebsocket(t, p, config, "/stream/push")
		for range 2 {
			feeds.end(t)
			feeds.checkFailure(t, "a stream begins with its request")
			for _, client := range []*websocketClient{feeds, pushes} {
				if err := client.conn.Write(client.ctx, client.kind, []byte("{")); err != nil {
					t.Fatal(err)
				}
				client.checkFailure(t, "")
			}
			pushes.end(t)
		}
		feeds.send(t, &pb.FeedRequest{Count: 1, Pattern: "constant"})
		if _, err := feeds.readItem(); err != nil {
			t.Error(err)
		}
		checkCounts(t, metrics(t, p), map[string]float64{`wirelab_errors_total{operation="Feed"}`: 0,
			`wirelab_calls_total{operation="Feed"}`: 5})
	})
}

func TestMessagesMayComeInFragments(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/push")
		for i, text := range []string{"Größe", ""} {
			whole, err := client.marshal(&pb.Item{Index: int32(i), Text: text})
			if err != nil {
				t.Fatal(err)
			}
			writer, err := client.conn.Writer(client.ctx, client.kind)
			if err != nil {
				t.Fatal(err)
			}
			for at := range whole {
				if _, err := writer.Write(whole[at : at+1]); err != nil {
					t.Fatal(err)
				}
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
		}
		// An end of two empty frames.
		writer, err := client.conn.Writer(client.ctx, websocket.MessageText)
		if err == nil {
			_, err = writer.Write(nil)
		}
		if err == nil {
			err = writer.Close()
		}
		reply := &pb.PushReply{}
		if err = errors.Join(err, client.read(reply)); err != nil || reply.GetCount() != 2 || reply.GetBytes() != 7 {
			t.Errorf("%v, %v", reply, err)
		}
	})
}

func TestMessagesOfTheLimitAreRead(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		client := dialWebsocket(t, p, config, "/stream/push")
		// White space, or an unknown field, fills the message up.
		message := []byte("{}" + strings.Repeat(" ", messageBytesMax-2))
		if config["stack.codec"] == "protobuf" {
			const bytes = messageBytesMax - 4
			message = append(binary.AppendUvarint([]byte{15<<3 | 2}, bytes), make([]byte, bytes)...)
		}
		if len(message) != messageBytesMax {
			t.Fatalf("%d bytes", len(message))
		}
		if err := client.conn.Write(client.ctx, client.kind, message); err != nil {
			t.Fatal(err)
		}
		client.end(t)
		reply := &pb.PushReply{}
		if err := client.read(reply); err != nil || reply.GetCount() != 1 {
			t.Errorf("%v, %v", reply, err)
		}
	})
}

func TestMessagesThatEndTheConnection(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		otherKind := websocket.MessageBinary
		if config["stack.codec"] == "protobuf" {
			otherKind = websocket.MessageText
		}
		for _, path := range []string{"/stream/feed", "/stream/push", "/stream/chat"} {
			for name, row := range map[string]struct {
				isOther bool
				text    []byte
				want    websocket.StatusCode
			}{
				"a byte too long": {false, make([]byte, messageBytesMax+1), websocket.StatusMessageTooBig},
				"far too long":    {false, make([]byte, 10<<20), websocket.StatusMessageTooBig},
				"another kind":    {true, []byte("{}"), websocket.StatusUnsupportedData},
			} {
				client := dialWebsocket(t, p, config, path)
				kind := client.kind
				if row.isOther {
					kind = otherKind
				}
				// The service may close before it has read all of what it refuses.
				if err := client.conn.Write(client.ctx, kind, row.text); err != nil && len(row.text) < 1<<20 {
					t.Errorf("%s %s: %v", path, name, err)
				}
				client.checkClosed(t, row.want)
			}
		}
		checkCounts(t, metrics(t, p), map[string]float64{`wirelab_calls_total{operation="Feed"}`: 0,
			`wirelab_calls_total{operation="Push"}`: 0, "wirelab_stream_cancelled_total": 0})
	})
}

func TestAnEmptyBinaryMessageIsNotAnEnd(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialWebsocket(t, p, websocketJSON, "/stream/push")
	if err := client.conn.Write(client.ctx, websocket.MessageBinary, nil); err != nil {
		t.Fatal(err)
	}
	client.checkClosed(t, websocket.StatusUnsupportedData)
}

func TestTextThatIsNotUTF8EndsTheConnection(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialWebsocket(t, p, websocketJSON, "/stream/chat")
	client.send(t, &pb.Item{Text: "a"})
	if _, err := client.readItem(); err != nil {
		t.Fatal(err)
	}
	if err := client.conn.Write(client.ctx, websocket.MessageText, []byte("{\"text\":\"\xff\"}")); err != nil {
		t.Fatal(err)
	}
	client.checkClosed(t, websocket.StatusInvalidFramePayloadData)
	waitForCounts(t, p, map[string]float64{"wirelab_calls_in_flight": 0, "wirelab_stream_cancelled_total": 1})
}

// TestAWrongMessageEndsARunningFeed, which would have waited for a minute.
func TestAWrongMessageEndsARunningFeed(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialWebsocket(t, p, websocketJSON, "/stream/feed")
	client.send(t, &pb.FeedRequest{Count: 2, GapUs: 60_000_000, Pattern: "constant"})
	if _, err := client.readItem(); err != nil {
		t.Fatal(err)
	}
	if err := client.conn.Write(client.ctx, websocket.MessageBinary, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	client.checkClosed(t, websocket.StatusUnsupportedData)
	waitForCounts(t, p, map[string]float64{"wirelab_calls_in_flight": 0, "wirelab_stream_cancelled_total": 1})
}

func TestRequestsWithoutAnUpgradeAreRefused(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, _ options) {
		upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
			"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
		for name, row := range map[string]struct {
			method, path string
			header       []string
			status       int
		}{
			"no upgrade":      {"GET", "/stream/feed", nil, 426},
			"another upgrade": {"GET", "/stream/push", []string{"Connection", "Upgrade", "Upgrade", "h2c"}, 426},
			"version 8":       {"GET", "/stream/chat", slices.Replace(slices.Clone(upgrade), 5, 6, "8"), 400},
			"no key":          {"GET", "/stream/feed", upgrade[:6], 400},
			"a short key":     {"GET", "/stream/feed", slices.Replace(slices.Clone(upgrade), 7, 8, "YQ=="), 400},
			"another origin":  {"GET", "/stream/feed", append(slices.Clone(upgrade), "Origin", "http://other"), 403},
			"a feed of REST":  {"POST", "/stream/feed", nil, 405},
			"no such path":    {"GET", "/stream/feeds", upgrade, 404},
			"unclean path":    {"GET", "/stream//feed", upgrade, 404},
		} {
			answer := mustCall(t, p, "http/1.1", row.method, row.path, nil, row.header...)
			problem := struct{ Error string }{}
			err := json.Unmarshal(answer.body, &problem)
			if err != nil || problem.Error == "" || answer.StatusCode != row.status ||
				answer.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v: status %d, %v, %s", name, err, answer.StatusCode, answer.Header, answer.body)
			}
		}
	})
}

func TestNoExtensionAndNoSubprotocolIsAgreedOn(t *testing.T) {
	p := start(t, websocketJSON)
	conn, response, err := websocket.Dial(t.Context(), "http://"+p.Address+"/stream/feed", &websocket.DialOptions{
		CompressionMode: websocket.CompressionContextTakeover, Subprotocols: []string{"chat"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if conn.Subprotocol() != "" || response.Header.Get("Sec-WebSocket-Extensions") != "" {
		t.Errorf("agreed on %v", response.Header)
	}
}

func TestCompressionIsAgreedOnWhereTheStackHasIt(t *testing.T) {
	for mode, agreed := range map[websocket.CompressionMode]string{
		websocket.CompressionContextTakeover:   "permessage-deflate",
		websocket.CompressionNoContextTakeover: "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
	} {
		p := start(t, websocketJSON.with("stack.compression", "permessage-deflate"))
		conn, response, err := websocket.Dial(t.Context(), "http://"+p.Address+"/stream/chat",
			&websocket.DialOptions{CompressionMode: mode})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		if found := response.Header.Get("Sec-WebSocket-Extensions"); found != agreed {
			t.Errorf("agreed on %q", found)
		}
		bomb := bytes.Repeat([]byte{' '}, 30<<20)
		if err := conn.Write(t.Context(), websocket.MessageText, bomb); err != nil {
			t.Fatal(err)
		}
		if _, _, err = conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
			t.Errorf("a message of 30 MiB: %v", err)
		}
	}
}

// TestAClientThatClosesCancelsItsStream, in the orderly way or not.
func TestAClientThatClosesCancelsItsStream(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		begin := func(path string, message proto.Message) *websocketClient {
			client := dialWebsocket(t, p, config, path)
			client.send(t, message)
			if _, err := client.readItem(); err != nil {
				t.Fatal(err)
			}
			return client
		}
		request := &pb.FeedRequest{Count: 2, GapUs: 60_000_000, Pattern: "constant"}
		for i, row := range []struct {
			path    string
			message proto.Message
		}{{"/stream/feed", request}, {"/stream/chat", &pb.Item{}}} {
			if err := begin(row.path, row.message).conn.Close(websocket.StatusNormalClosure, ""); err != nil {
				t.Errorf("%s: %v", row.path, err)
			}
			_ = begin(row.path, row.message).conn.CloseNow()
			cancelled := float64(2 * (i + 1))
			waitForCounts(t, p, map[string]float64{"wirelab_calls_in_flight": 0,
				"wirelab_stream_cancelled_total": cancelled, "wirelab_stream_items_total": cancelled})
		}
		// A connection without a stream has nothing to cancel.
		idle := dialWebsocket(t, p, config, "/stream/feed")
		if err := idle.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Error(err)
		}
		checkCounts(t, metrics(t, p), map[string]float64{"wirelab_stream_cancelled_total": 4})
	})
}

func TestDelaysAreInFrontOfStreamsOverWebSocket(t *testing.T) {
	p := start(t, websocketJSON.with("faults.delay_us", 200_000))
	client := dialWebsocket(t, p, websocketJSON, "/stream/chat")
	for range 2 {
		begin := time.Now()
		client.send(t, &pb.Item{})
		if _, err := client.readItem(); err != nil || time.Since(begin) < 200*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		client.end(t)
		client.checkEnd(t)
	}
	checkCounts(t, metrics(t, p), map[string]float64{"wirelab_delay_seconds_count": 2})
}

// TestStopClosesConnections: those without a stream at once, and those with one that goes on
// before the grace has ended.
func TestStopClosesConnections(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, config options) {
		var idle, busy []*websocketClient
		for range 3 {
			idle = append(idle, dialWebsocket(t, p, config, "/stream/feed"),
				dialWebsocket(t, p, config, "/stream/push"))
			busy = append(busy, dialWebsocket(t, p, config, "/stream/feed"),
				dialWebsocket(t, p, config, "/stream/feed"))
		}
		for i, client := range busy {
			client.send(t, &pb.FeedRequest{Count: 2000, GapUs: []int64{2_000, 60_000}[i%2], Pattern: "constant"})
			if _, err := client.readItem(); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		_ = p.stdin.Close()
		for _, client := range idle {
			client.checkClosed(t, websocket.StatusGoingAway)
		}
		checkNear(t, "seconds until idle connections were closed", time.Since(begin).Seconds(), 0, 0.6)
		for _, client := range busy {
			var err error
			for err == nil {
				_, err = client.readItem()
			}
			if websocket.CloseStatus(err) != websocket.StatusGoingAway {
				t.Errorf("the feed ended with %v", err)
			}
		}
		checkNear(t, "seconds until feeds were ended", time.Since(begin).Seconds(), 0.5, 2)
		if code := p.exitCode(t, 3*time.Second); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func TestStopLetsAStreamEnd(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialWebsocket(t, p, websocketJSON, "/stream/feed")
	client.send(t, &pb.FeedRequest{Count: 2, GapUs: 300_000, Pattern: "constant"})
	if _, err := client.readItem(); err != nil {
		t.Fatal(err)
	}
	_ = p.stdin.Close()
	if _, err := client.readItem(); err != nil {
		t.Error(err)
	}
	client.checkEnd(t)
	client.checkClosed(t, websocket.StatusGoingAway)
	if code := p.exitCode(t, 3*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestStopDoesNotWaitForClientsThatDoNotAnswer: nor for one that does not read its feed.
func TestStopDoesNotWaitForClientsThatDoNotAnswer(t *testing.T) {
	p := start(t, websocketJSON)
	dialRaw(t, p, "/stream/feed")
	dialWebsocket(t, p, websocketJSON, "/stream/feed").
		send(t, &pb.FeedRequest{Count: 16_000, Bytes: 65_536, Pattern: "constant"})
	waitForCounts(t, p, map[string]float64{"wirelab_calls_in_flight": 1})
	begin := time.Now()
	_ = p.stdin.Close()
	if code := p.exitCode(t, 4*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkNear(t, "seconds until the end", time.Since(begin).Seconds(), 0, 2)
}

// TestAFastClientIsHeldUp: it sends items and does not read their answers.
func TestAFastClientIsHeldUp(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialWebsocket(t, p, websocketJSON, "/stream/chat")
	text, err := json.Marshal(&pb.Item{Text: strings.Repeat("a", 65_536)})
	if err != nil {
		t.Fatal(err)
	}
	before := metrics(t, p)["process_resident_memory_bytes"]
	written := make(chan int, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	go func() {
		count := 0
		for ; count < 2000; count++ {
			if client.conn.Write(ctx, websocket.MessageText,
				bytes.Replace(text, []byte(`"index":0`), fmt.Appendf(nil, `"index":%d`, count), 1)) != nil {
				break
			}
		}
		written <- count
	}()
	time.Sleep(time.Second)
	checkNear(t, "bytes more", metrics(t, p)["process_resident_memory_bytes"]-before, -1e9, 50e6)
	checkNear(t, "items that the service took", float64(<-written), 1, 1000)
	waitForCounts(t, p, map[string]float64{"wirelab_calls_in_flight": 0, "wirelab_stream_cancelled_total": 1})
}

// Opcodes of frames (RFC 6455 section 5.2).
const (
	opContinuation = 0
	opText         = 1
	opClose        = 8
	opPing         = 9
	opPong         = 10
	isFinal        = 0x80
)

// makeFrame makes a frame; first is its first byte. The masking key is 0, which changes nothing.
func makeFrame(first byte, isMasked bool, payload string) []byte {
	frame, mask := []byte{first}, byte(0)
	if isMasked {
		mask = 0x80
	}
	if len(payload) < 126 {
		frame = append(frame, mask|byte(len(payload)))
	} else {
		frame = binary.BigEndian.AppendUint16(append(frame, mask|126), uint16(len(payload)))
	}
	if isMasked {
		frame = append(frame, 0, 0, 0, 0)
	}
	return append(frame, payload...)
}

// rawClient is a connection after its upgrade.
type rawClient struct {
	net.Conn
	reader *bufio.Reader
}

func dialRaw(t *testing.T, p *process, path string) *rawClient {
	t.Helper()
	conn, err := dialer(p)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	client := &rawClient{conn, bufio.NewReader(conn)}
	// The key and its answer are those of RFC 6455 section 1.3.
	client.send(t, []byte("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n"+
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"))
	answer, err := http.ReadResponse(client.reader, nil)
	if err != nil || answer.StatusCode != 101 ||
		answer.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" {
		t.Fatalf("%v, %+v", err, answer)
	}
	return client
}

func (c *rawClient) send(t *testing.T, frames []byte) {
	t.Helper()
	if _, err := c.Write(frames); err != nil {
		t.Fatal(err)
	}
}

// readFrame reads a frame of the service, which has no mask.
func (c *rawClient) readFrame(t *testing.T) (opcode byte, payload []byte) {
	t.Helper()
	head := make([]byte, 2)
	_, err := io.ReadFull(c.reader, head)
	length := uint16(head[1])
	if err == nil && length == 126 {
		err = binary.Read(c.reader, binary.BigEndian, &length)
	}
	payload = make([]byte, length)
	if err == nil {
		_, err = io.ReadFull(c.reader, payload)
	}
	if err != nil || head[0]&isFinal == 0 || head[1] > 126 {
		t.Fatalf("%v, head %x", err, head)
	}
	return head[0] & 0xf, payload
}

// checkClosed expects a frame that closes the connection, and answers it.
func (c *rawClient) checkClosed(t *testing.T, name string, want uint16) {
	t.Helper()
	opcode, payload := c.readFrame(t)
	if opcode != opClose || len(payload) < 2 || binary.BigEndian.Uint16(payload) != want {
		t.Errorf("%s: opcode %d, payload %q, want status %d", name, opcode, payload, want)
	}
	_, _ = c.Write(makeFrame(isFinal|opClose, true, string(payload)))
	if _, err := c.reader.ReadByte(); err == nil {
		t.Errorf("%s: more after the end", name)
	}
}

func TestMalformedFramesEndTheConnection(t *testing.T) {
	eachWebsocketStack(t, func(t *testing.T, p *process, _ options) {
		long := strings.Repeat("a", 126)
		for name, row := range map[string]struct {
			frames []byte
			want   uint16
		}{
			"not masked":                {makeFrame(isFinal|opText, false, "{}"), 1002},
			"a long ping":               {makeFrame(isFinal|opPing, true, long), 1002},
			"a fragment of a ping":      {makeFrame(opPing, true, ""), 1002},
			"a close of one byte":       {makeFrame(isFinal|opClose, true, "a"), 1002},
			"a close with status 1005":  {makeFrame(isFinal|opClose, true, "\x03\xed"), 1002},
			"a reserved bit":            {makeFrame(isFinal|0x40|opText, true, "{}"), 1002},
			"an unknown kind of frame":  {makeFrame(isFinal|3, true, "{}"), 1002},
			"a continuation of nothing": {makeFrame(isFinal|opContinuation, true, "{}"), 1002},
			"a message within another":  {bytes.Repeat(makeFrame(opText, true, "{"), 2), 1002},
			"a negative length":         {append([]byte{isFinal | opText}, bytes.Repeat([]byte{0xff}, 13)...), 1002},
		} {
			client := dialRaw(t, p, "/stream/push")
			client.send(t, row.frames)
			client.checkClosed(t, name, row.want)
		}
		checkCounts(t, metrics(t, p), map[string]float64{"wirelab_calls_in_flight": 0,
			`wirelab_calls_total{operation="Push"}`: 0})
	})
}

// TestFragmentsBeyondTheLimitEndTheConnection: each is short, and the last never comes.
func TestFragmentsBeyondTheLimitEndTheConnection(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialRaw(t, p, "/stream/push")
	fragment := strings.Repeat(" ", 60_000)
	client.send(t, makeFrame(opText, true, fragment))
	for range messageBytesMax / len(fragment) {
		client.send(t, makeFrame(opContinuation, true, fragment))
	}
	client.checkClosed(t, "fragments", 1009)
}

func TestAConnectionCutWithinAMessageIsForgotten(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialRaw(t, p, "/stream/push")
	client.send(t, makeFrame(isFinal|opText, true, `{"index":0}`))
	client.send(t, makeFrame(isFinal|opText, true, `{"index":1}`)[:8])
	_ = client.Close()
	waitForCounts(t, p, map[string]float64{`wirelab_calls_total{operation="Push"}`: 1, "wirelab_calls_in_flight": 0})
	if err := hello(p, websocketJSON); err != nil {
		t.Error(err)
	}
}

// TestPingsAreAnswered, also between the items of a feed and the fragments of a message.
func TestPingsAreAnswered(t *testing.T) {
	p := start(t, websocketJSON)
	client := dialRaw(t, p, "/stream/feed")
	request := `{"count":2,"gap_us":60000000,"pattern":"constant"}`
	for _, row := range []struct {
		frames []byte
		want   byte
	}{
		{makeFrame(isFinal|opPing, true, "a"), opPong},
		{slices.Concat(makeFrame(opText, true, request[:9]), makeFrame(isFinal|opPing, true, "a"),
			makeFrame(isFinal|opContinuation, true, request[9:])), opPong},
		{nil, opText},
		{makeFrame(isFinal|opPing, true, "a"), opPong},
	} {
		client.send(t, row.frames)
		opcode, payload := client.readFrame(t)
		if opcode != row.want || (opcode == opPong && string(payload) != "a") {
			t.Errorf("opcode %d, payload %q, want opcode %d", opcode, payload, row.want)
		}
	}
}

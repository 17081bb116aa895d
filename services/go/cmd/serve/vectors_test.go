package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "wirelab/services/go/transferpb"
)

// readVectors reads a file of contracts/vectors, whose README describes it.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../../../contracts/vectors/" + name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// operationVector is one row of operations.json. Generated messages have the
// contract's field names as their tags, so encoding/json reads them by its mapping.
type operationVector struct {
	Operation, Name, Error string
	Request, Reply         json.RawMessage
	RecordsRepeated        int `json:"records_repeated"`
	DataPatternBytes       int `json:"data_pattern_bytes"`
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}

// checkAnswer holds an answer, or the text of an application error, against a row.
func (v *operationVector) checkAnswer(t *testing.T, got proto.Message, problem string) {
	t.Helper()
	if problem != v.Error {
		t.Errorf("error %q, want %q", problem, v.Error)
	}
	if v.Error != "" {
		return
	}
	want := got.ProtoReflect().New().Interface()
	decode(t, v.Reply, want)
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func (v *operationVector) submit(t *testing.T) *pb.SubmitRequest {
	t.Helper()
	request := &pb.SubmitRequest{}
	decode(t, v.Request, request)
	if v.RecordsRepeated > 0 {
		request.Records = slices.Repeat(request.Records, v.RecordsRepeated)
	}
	return request
}

func (v *operationVector) upload(t *testing.T) *pb.UploadRequest {
	t.Helper()
	request := &pb.UploadRequest{}
	decode(t, v.Request, request)
	if v.DataPatternBytes > 0 {
		request.Data = pattern(v.DataPatternBytes)
	}
	return request
}

// applicationError is the text of an application error; anything else that is
// wrong ends the test.
func applicationError(t *testing.T, err error) string {
	t.Helper()
	if err != nil && status.Code(err) != codes.InvalidArgument {
		t.Fatal(err)
	}
	return status.Convert(err).Message()
}

func TestOperationVectorsOverGRPC(t *testing.T) {
	var vectors []*operationVector
	readVectors(t, "operations.json", &vectors)
	client := connect(t, start(t, grpcOnly))
	for _, vector := range vectors {
		t.Run(vector.Operation+": "+vector.Name, func(t *testing.T) {
			switch vector.Operation {
			case "Submit":
				answer, err := client.Submit(t.Context(), vector.submit(t))
				vector.checkAnswer(t, answer, applicationError(t, err))
			case "Upload":
				answer, err := client.Upload(t.Context(), vector.upload(t))
				vector.checkAnswer(t, answer, applicationError(t, err))
				answer, err = uploadChunks(t, client, vector.upload(t).GetData(), 65_536)
				vector.checkAnswer(t, answer, applicationError(t, err))
			case "Download":
				vector.checkDownload(t, client)
			default:
				t.Fatalf("no test for operation %q", vector.Operation)
			}
		})
	}
}

func (v *operationVector) checkDownload(t *testing.T, client pb.TransferClient) {
	t.Helper()
	request := &pb.DownloadRequest{}
	decode(t, v.Request, request)
	stream, err := client.Download(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Chunks         int
		LastChunkBytes int `json:"last_chunk_bytes"`
		SHA256         string
	}
	var got, want summary
	var data []byte
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if text := applicationError(t, err); text != v.Error {
				t.Errorf("error %q, want %q", text, v.Error)
			}
			return
		}
		data = append(data, chunk.GetData()...)
		got.Chunks, got.LastChunkBytes = got.Chunks+1, len(chunk.GetData())
	}
	got.SHA256 = digest(data)
	decode(t, v.Reply, &want)
	if v.Error != "" || got != want {
		t.Errorf("got %+v, want %+v, error %q", got, want, v.Error)
	}
}

func TestOperationVectorsOverREST(t *testing.T) {
	var vectors []*operationVector
	readVectors(t, "operations.json", &vectors)
	for _, transport := range []string{"http/1.1", "http/2"} {
		p := start(t, stack("rest", "json", transport))
		for _, vector := range vectors {
			if transport == "http/2" && vector.DataPatternBytes > 1<<20 {
				continue // once is enough for the largest
			}
			t.Run(transport+" "+vector.Operation+": "+vector.Name, func(t *testing.T) {
				var request any
				var answer proto.Message
				switch vector.Operation {
				case "Submit":
					request, answer = vector.submit(t), &pb.SubmitReply{}
				case "Upload":
					request, answer = vector.upload(t), &pb.UploadReply{}
				default:
					return // a stream of messages, which REST has not
				}
				body, err := json.Marshal(request)
				if err != nil {
					t.Fatal(err)
				}
				vector.checkAnswer(t, answer, post(t, p, transport, vector.Operation, body, answer))
			})
		}
	}
}

// post decodes the answer to a request into a message, or returns the error
// that it carries.
func post(t *testing.T, p *process, transport, operation string, body []byte, into proto.Message) (problem string) {
	t.Helper()
	answer := mustCall(t, p, transport, "POST", "/transfer/"+strings.ToLower(operation), body,
		"Content-Type", "application/json")
	if answer.StatusCode == 400 {
		var carried struct{ Error string }
		decode(t, answer.body, &carried)
		return carried.Error
	}
	if answer.StatusCode != 200 {
		t.Fatalf("status %d: %s", answer.StatusCode, answer.body)
	}
	decode(t, answer.body, into)
	return ""
}

// messageVectors is messages.json.
type messageVectors struct {
	Accepted []struct {
		Message, Name, JSON string
		JSONVariants        []string `json:"json_variants"`
		Protobuf            string
		ProtobufVariants    []string `json:"protobuf_variants"`
	}
	RefusedJSON     []refusedVector `json:"refused_json"`
	RefusedProtobuf []refusedVector `json:"refused_protobuf"`
}

type refusedVector struct{ Message, Why, Input string }

// rawCodec sends bytes as they are and keeps answers as they came.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, message any) error {
	*message.(*[]byte) = data.Materialize()
	return nil
}

var _ encoding.CodecV2 = rawCodec{}

// rawCall sends one message in hexadecimal.
func rawCall(t *testing.T, connection *grpc.ClientConn, operation, message string) (answer []byte, err error) {
	t.Helper()
	request, err := hex.DecodeString(message)
	if err != nil {
		t.Fatal(err)
	}
	err = connection.Invoke(t.Context(), "/wirelab.transfer.v1.Transfer/"+operation, request, &answer,
		grpc.ForceCodecV2(rawCodec{}))
	return answer, err
}

// TestRequestVectorsAreReadAlike: every form of a request, in JSON over REST and
// in protobuf over gRPC, has the same answer or the same application error.
func TestRequestVectorsAreReadAlike(t *testing.T) {
	var vectors messageVectors
	readVectors(t, "messages.json", &vectors)
	web := start(t, restJSON)
	connection, err := dialGRPC(start(t, grpcOnly))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	checked := 0
	for _, vector := range vectors.Accepted {
		operation := strings.TrimSuffix(vector.Message, "Request")
		var want, got proto.Message = &pb.SubmitReply{}, &pb.SubmitReply{}
		switch vector.Message {
		case "SubmitRequest":
		case "UploadRequest":
			want, got = &pb.UploadReply{}, &pb.UploadReply{}
		default:
			continue
		}
		problem := post(t, web, "http/1.1", operation, []byte(vector.JSON), want)
		for _, variant := range vector.JSONVariants {
			proto.Reset(got)
			if text := post(t, web, "http/1.1", operation, []byte(variant), got); text != problem || !proto.Equal(got, want) {
				t.Errorf("%s, %s: %q, %v for %s", vector.Message, vector.Name, text, got, variant)
			}
			checked++
		}
		for _, variant := range append(vector.ProtobufVariants, vector.Protobuf) {
			proto.Reset(got)
			answer, err := rawCall(t, connection, operation, variant)
			if text := applicationError(t, err); text != problem {
				t.Errorf("%s, %s: error %q, want %q", vector.Message, vector.Name, text, problem)
			}
			if err := proto.Unmarshal(answer, got); err != nil || !proto.Equal(got, want) {
				t.Errorf("%s, %s: %v, %v for %s", vector.Message, vector.Name, err, got, variant)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d forms of requests in messages.json", checked)
	}
}

func TestRefusedJSONVectors(t *testing.T) {
	var vectors messageVectors
	readVectors(t, "messages.json", &vectors)
	p := start(t, restJSON)
	for _, vector := range vectors.RefusedJSON {
		path, body := "/transfer/submit", vector.Input
		switch vector.Message {
		case "Record":
			body = `{"batch":"b","records":[` + body + `]}`
		case "UploadRequest":
			path = "/transfer/upload"
		}
		answer := mustCall(t, p, "http/1.1", "POST", path, []byte(body), "Content-Type", "application/json")
		if answer.StatusCode != 400 || bytes.Contains(answer.body, []byte("batch must not be empty")) {
			t.Errorf("%s: status %d, %s", vector.Why, answer.StatusCode, answer.body)
		}
	}
}

func TestRefusedProtobufVectors(t *testing.T) {
	var vectors messageVectors
	readVectors(t, "messages.json", &vectors)
	connection, err := dialGRPC(start(t, grpcOnly))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	checked := 0
	for _, vector := range vectors.RefusedProtobuf {
		if vector.Message != "SubmitRequest" {
			continue
		}
		checked++
		_, err := rawCall(t, connection, "Submit", vector.Input)
		if code := status.Code(err); code != codes.Internal && code != codes.InvalidArgument ||
			strings.Contains(err.Error(), "batch must not be empty") {
			t.Errorf("%s: %v", vector.Why, err)
		}
	}
	if checked < 5 {
		t.Errorf("only %d requests in refused_protobuf", checked)
	}
}

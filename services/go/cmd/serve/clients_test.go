package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "wirelab/services/go/calendarpb"
	_ "wirelab/services/go/chargingpb"
)

// clientStack calls operations over one stack. Requests and replies are values of
// the JSON mapping; problem is the text of an application error.
type clientStack struct {
	name   string
	config options
	call   func(t *testing.T, p *process, contract, operation string, request, want any) (reply any, problem string)
}

// clientStacks are all stacks over which the service is called.
func clientStacks() []clientStack {
	rows := []clientStack{
		{"rest json", restJSON, callJSON},
		{"rest json http/2", stack("rest", "json", "http/2"), callJSON},
		{"rest protobuf", stack("rest", "protobuf", "http/1.1"), callProtobuf},
		{"rest xml", stack("rest", "xml", "http/1.1"), callXML},
		{"rest xml http/1.0", stack("rest", "xml", "http/1.0").with("stack.end_of_message", "until-close"), callXML},
		{"grpc", grpcOnly, callGRPC},
		{"connect protobuf", connectProto, callConnect},
		{"connect json http/2", connectJSON, callConnect},
	}
	for _, codec := range []string{"soap-literal", "soap-rpc"} {
		for version := range envelopes {
			config := stack("soap", codec, "http/1.1").with("stack.soap", version)
			rows = append(rows, clientStack{codec + " " + version, config,
				func(t *testing.T, p *process, contract, operation string, request, want any) (any, string) {
					return callSOAP(t, p, version, codec == "soap-rpc", contract, operation, request, want)
				}})
		}
	}
	return rows
}

// restPath is by the rule of contracts/README.md.
func restPath(contract, operation string) string {
	var path strings.Builder
	for i, letter := range operation {
		if unicode.IsUpper(letter) && i > 0 {
			path.WriteByte('-')
		}
		path.WriteRune(unicode.ToLower(letter))
	}
	return "/" + contract + "/" + path.String()
}

// exchange posts a body, or gets Hello, and returns the body of status 200 or 400.
func exchange(t *testing.T, p *process, contract, operation, mediaType, body string) (answer *reply, ok bool) {
	t.Helper()
	method, header := "POST", []string{"Content-Type", mediaType, "Accept", mediaType}
	if strings.HasPrefix(operation, "Hello") {
		method = "GET"
	}
	answer = mustCall(t, p, p.transport, method, restPath(contract, operation), []byte(body), header...)
	if answer.StatusCode != 200 && answer.StatusCode != 400 {
		t.Fatalf("status %d: %.300s", answer.StatusCode, answer.body)
	}
	if kind := answer.Header.Get("Content-Type"); kind != mediaType {
		t.Errorf("content type %q", kind)
	}
	return answer, answer.StatusCode == 200
}

func callJSON(t *testing.T, p *process, contract, operation string, request, _ any) (any, string) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, ok := exchange(t, p, contract, operation, "application/json", string(body))
	got := decodeExactly(t, answer.body)
	if ok {
		return got, ""
	}
	return nil, got.(map[string]any)["error"].(string)
}

// newMessage is an empty message of a contract, by its name.
func newMessage(t *testing.T, contract, name string) proto.Message {
	t.Helper()
	found, err := protoregistry.GlobalTypes.FindMessageByName(
		protoreflect.FullName("wirelab." + contract + ".v1." + name))
	if err != nil {
		t.Fatal(err)
	}
	return found.New().Interface()
}

func requestName(operation string) string {
	return strings.TrimSuffix(operation, "Bytes") + "Request"
}

func protobufRequest(t *testing.T, contract, operation string, request any) proto.Message {
	t.Helper()
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	message := newMessage(t, contract, requestName(operation))
	decode(t, text, message)
	return message
}

// jsonOf is a message in the JSON mapping; encoding/json writes the empty list
// of a decoded message as null.
func jsonOf(t *testing.T, message proto.Message) any {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	value := decodeExactly(t, text).(map[string]any)
	for name := range value {
		if value[name] == nil {
			value[name] = []any{}
		}
	}
	return value
}

func callProtobuf(t *testing.T, p *process, contract, operation string, request, _ any) (any, string) {
	t.Helper()
	body, err := proto.Marshal(protobufRequest(t, contract, operation, request))
	if err != nil {
		t.Fatal(err)
	}
	answer, ok := exchange(t, p, contract, operation, "application/x-protobuf", string(body))
	if !ok {
		number, kind, head := protowire.ConsumeTag(answer.body)
		text, length := protowire.ConsumeString(answer.body[max(head, 0):])
		if number != 1 || kind != protowire.BytesType || head+length != len(answer.body) {
			t.Fatalf("%x is not { string error = 1; }", answer.body)
		}
		return nil, text
	}
	message := newMessage(t, contract, operation+"Reply")
	if err := proto.Unmarshal(answer.body, message); err != nil {
		t.Fatal(err)
	}
	return jsonOf(t, message), ""
}

func callGRPC(t *testing.T, p *process, contract, operation string, request, _ any) (any, string) {
	t.Helper()
	connection, err := dialGRPC(p)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	message := newMessage(t, contract, operation+"Reply")
	service := strings.ToUpper(contract[:1]) + contract[1:]
	err = connection.Invoke(t.Context(), "/wirelab."+contract+".v1."+service+"/"+operation,
		protobufRequest(t, contract, operation, request), message, grpc.WaitForReady(true))
	if status.Code(err) == codes.InvalidArgument {
		return nil, status.Convert(err).Message()
	}
	if err != nil {
		t.Fatal(err)
	}
	return jsonOf(t, message), ""
}

func callXML(t *testing.T, p *process, contract, operation string, request, want any) (any, string) {
	t.Helper()
	namespace := "urn:wirelab:" + contract + ":v1"
	form, root := style{namespace: namespace}, requestName(operation)
	body := fmt.Sprintf(`<%s xmlns="%s">%s</%[1]s>`, root, namespace, form.fieldsXML(t, request, true))
	answer, ok := exchange(t, p, contract, operation, "application/xml", body)
	tree := parseXML(t, answer.body)
	name := operation + "Reply"
	if !ok {
		name = "Error"
	}
	if tree.XMLName.Local != name || tree.XMLName.Space != namespace {
		t.Fatalf("the root is %v", tree.XMLName)
	}
	if !ok {
		return nil, tree.children("error")[0].Text
	}
	if want == nil {
		t.Fatalf("answered, but should be refused: %.300s", answer.body)
	}
	return form.fromXML(t, tree, want, true), ""
}

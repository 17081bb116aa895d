package main

import (
	"fmt"
	"strings"
	"testing"
)

// envelopes are the versions' namespaces.
var envelopes = map[string]string{
	"1.1": "http://schemas.xmlsoap.org/soap/envelope/",
	"1.2": "http://www.w3.org/2003/05/soap-envelope",
}

func soapHeader(version, action string) []string {
	if version == "1.2" {
		return []string{"Content-Type", `application/soap+xml; charset=utf-8; action="` + action + `"`}
	}
	return []string{"Content-Type", "text/xml; charset=utf-8", "SOAPAction", `"` + action + `"`}
}

// helloSOAP is a request of Hello.
func helloSOAP(config options) (method, path, body string, header []string) {
	version, isNamed := config["stack.soap"].(string)
	if !isNamed {
		version = "1.1"
	}
	element := "HelloRequest"
	if config["stack.codec"] == "soap-rpc" {
		element = "hello"
	}
	body = makeEnvelope(version, "", "<"+element+` xmlns="urn:wirelab:transfer:v1"/>`)
	return "POST", "/transfer/soap", body, soapHeader(version, "urn:wirelab:transfer:v1#Hello")
}

// makeEnvelope returns an envelope as other stacks write it: with a prefix of their own,
// white space and a comment.
func makeEnvelope(version, header, body string) string {
	if header != "" {
		header = "<S:Header>" + header + "</S:Header>"
	}
	return fmt.Sprintf("<?xml version='1.0'?>\n<S:Envelope xmlns:S='%s'>\n <!-- c -->%s\n<S:Body>%s</S:Body></S:Envelope>\n",
		envelopes[version], header, body)
}

// soapBody is the body of a request, its namespace under a prefix.
func soapBody(t *testing.T, rpc bool, contract, operation string, request any) string {
	t.Helper()
	form, name := style{prefix: "q:"}, requestName(operation)
	if rpc {
		form, name = style{parts: true}, strings.ToLower(operation[:1])+operation[1:]
	}
	return fmt.Sprintf(`<q:%s xmlns:q="urn:wirelab:%s:v1">%s</q:%[1]s>`, name, contract, form.fieldsXML(t, request, true))
}

func callSOAP(t *testing.T, p *process, version string, rpc bool, contract, operation string, request, want any) (any, string) {
	t.Helper()
	namespace := "urn:wirelab:" + contract + ":v1"
	body := makeEnvelope(version, "", soapBody(t, rpc, contract, operation, request))
	answer := mustCall(t, p, p.transport, "POST", "/"+contract+"/soap", []byte(body),
		soapHeader(version, namespace+"#"+operation)...)
	inner := soapReply(t, answer, version)
	if inner.XMLName.Local == "Fault" {
		fault := readFault(t, answer, version)
		if wantStatus := map[string]int{"Client": 500, "Sender": 400}[fault.code]; answer.StatusCode != wantStatus {
			t.Errorf("status %d with %+v", answer.StatusCode, fault)
		}
		return nil, fault.text
	}
	form, name := style{namespace: namespace}, operation+"Reply"
	if rpc {
		form, name = style{parts: true}, strings.ToLower(operation[:1])+operation[1:]+"Response"
	}
	if answer.StatusCode != 200 || inner.XMLName.Local != name || inner.XMLName.Space != namespace {
		t.Fatalf("status %d with %v", answer.StatusCode, inner.XMLName)
	}
	if want == nil {
		t.Fatalf("answered, but should be refused: %.300s", answer.body)
	}
	return form.fromXML(t, inner, want, true), ""
}

// soapReply is the one child of the body of a reply.
func soapReply(t *testing.T, answer *reply, version string) element {
	t.Helper()
	if kind, want := answer.Header.Get("Content-Type"), map[string]string{"1.1": "text/xml; charset=utf-8",
		"1.2": "application/soap+xml; charset=utf-8"}[version]; kind != want {
		t.Errorf("content type %q, want %q", kind, want)
	}
	envelope := parseXML(t, answer.body)
	if envelope.XMLName.Local != "Envelope" || envelope.XMLName.Space != envelopes[version] || len(envelope.Children) != 1 {
		t.Fatalf("%s is not an envelope of SOAP %s", answer.body, version)
	}
	body := envelope.Children[0]
	if body.XMLName.Local != "Body" || body.XMLName.Space != envelopes[version] || len(body.Children) != 1 {
		t.Fatalf("no body with one child in %s", answer.body)
	}
	return body.Children[0]
}

type fault struct{ code, text string }

// readFault checks a fault's shape, and that its code is in the envelope's
// namespace, whose prefix our writer declares as soapenv.
func readFault(t *testing.T, answer *reply, version string) fault {
	t.Helper()
	inner := soapReply(t, answer, version)
	if inner.XMLName.Local != "Fault" || inner.XMLName.Space != envelopes[version] {
		t.Fatalf("no fault: %s", answer.body)
	}
	var code, text element
	if version == "1.1" {
		code, text = inner.children("faultcode")[0], inner.children("faultstring")[0]
		if code.XMLName.Space != "" || text.XMLName.Space != "" {
			t.Errorf("faultcode and faultstring have no namespace: %s", answer.body)
		}
	} else {
		code, text = inner.children("Code")[0].children("Value")[0], inner.children("Reason")[0].children("Text")[0]
		if len(text.Attr) != 1 || text.Attr[0].Value != "en" {
			t.Errorf("the reason is of no language: %s", answer.body)
		}
	}
	name, isQualified := strings.CutPrefix(code.Text, "soapenv:")
	if !isQualified {
		t.Errorf("code %q", code.Text)
	}
	return fault{name, text.Text}
}

const wsse = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"

func usernameToken(username, password, kind string) string {
	return `<w:Security S:mustUnderstand="1" xmlns:w="` + wsse + `"><w:UsernameToken><w:Username>` + username +
		`</w:Username><w:Password Type="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#` +
		kind + `">` + password + `</w:Password></w:UsernameToken></w:Security>`
}

const credit = `<c:CreditControlRequest xmlns:c="urn:wirelab:charging:v1"><c:id>1</c:id></c:CreditControlRequest>`

// soapRow is a request of document/literal; VERSION and OTHER stand for the
// namespaces of this and the other version.
type soapRow struct {
	text, action string
	code         string // of the fault by SOAP 1.1; empty: answered
	word         string // of the fault's text
}

func soapRows() map[string]soapRow {
	const right = "urn:wirelab:charging:v1#CreditControl"
	wrap := func(header, body string) string {
		return `<S:Envelope xmlns:S="VERSION"><S:Header>` + header + `</S:Header><S:Body>` + body + `</S:Body></S:Envelope>`
	}
	return map[string]soapRow{
		"right":                     {wrap("", credit), right, "", ""},
		"no action":                 {wrap("", credit), "", "", ""},
		"another action":            {wrap("", credit), "urn:wirelab:charging:v1#Credit", "Client", "action"},
		"action of nobody":          {wrap("", credit), "x", "Client", "action"},
		"unknown account":           {wrap("", strings.Replace(credit, ">1<", ">0<", 1)), right, "Client", "no such account"},
		"the other version":         {`<S:Envelope xmlns:S="OTHER"><S:Body>` + credit + `</S:Body></S:Envelope>`, right, "VersionMismatch", "SOAP"},
		"a version to come":         {`<S:Envelope xmlns:S="urn:soap:2"><S:Body/></S:Envelope>`, right, "VersionMismatch", "SOAP"},
		"no envelope":               {credit, right, "Client", "Envelope"},
		"no body":                   {`<S:Envelope xmlns:S="VERSION"/>`, right, "Client", "Body"},
		"body of another version":   {`<S:Envelope xmlns:S="VERSION"><Body/></S:Envelope>`, right, "Client", "Body"},
		"empty body":                {wrap("", ""), right, "Client", "empty"},
		"two requests":              {wrap("", credit+credit), right, "Client", "another"},
		"unknown operation":         {wrap("", `<a xmlns="urn:wirelab:charging:v1"/>`), "", "Client", "no operation"},
		"operation in no namespace": {wrap("", `<CreditControlRequest/>`), "", "Client", "no operation"},
		"must understand":           {wrap(`<a:b xmlns:a="urn:a" S:mustUnderstand="1"/>`, credit), right, "MustUnderstand", "b"},
		"must understand truly":     {wrap(`<a:b xmlns:a="urn:a" S:mustUnderstand="true">c</a:b>`, credit), right, "MustUnderstand", "b"},
		"need not understand":       {wrap(`<a:b xmlns:a="urn:a" S:mustUnderstand="0"><c/></a:b>`, credit), right, "", ""},
		"other mustUnderstand":      {wrap(`<a:b xmlns:a="urn:a" a:mustUnderstand="1" mustUnderstand="1"/>`, credit), right, "", ""},
		"for somebody else":         {wrap(`<a:b xmlns:a="urn:a" S:actor="urn:x" S:role="urn:x" S:mustUnderstand="1"/>`, credit), right, "", ""},
		"token nobody asked for":    {wrap(usernameToken("u", "p", "PasswordText"), credit), right, "MustUnderstand", "Security"},
		"not XML":                   {`{"id":1}`, right, "Client", "understood"},
		"nothing":                   {``, right, "Client", "understood"},
		"document type":             {`<!DOCTYPE a [<!ENTITY b "c">]>` + wrap("", credit), right, "Client", "document type"},
		"text in the body":          {wrap("", "text"), right, "Client", "text"},
		"more than XML":             {wrap("", credit) + "<x/>", right, "Client", "root"},
	}
}

func TestSOAPFaults(t *testing.T) {
	for version, namespace := range envelopes {
		p := start(t, soapOnly.with("contract", "charging").with("stack.soap", version))
		other := envelopes[map[string]string{"1.1": "1.2", "1.2": "1.1"}[version]]
		for name, row := range soapRows() {
			t.Run(version+" "+name, func(t *testing.T) {
				text := strings.NewReplacer("VERSION", namespace, "OTHER", other).Replace(row.text)
				answer := mustCall(t, p, "http/1.1", "POST", "/charging/soap", []byte(text), soapHeader(version, row.action)...)
				checkSOAP(t, answer, version, row)
			})
		}
	}
}

func checkSOAP(t *testing.T, answer *reply, version string, row soapRow) {
	t.Helper()
	if row.code == "" {
		if inner := soapReply(t, answer, version); answer.StatusCode != 200 || inner.XMLName.Local != "CreditControlReply" {
			t.Errorf("status %d: %s", answer.StatusCode, answer.body)
		}
		return
	}
	got, want, wantStatus := readFault(t, answer, version), row.code, 500
	if version == "1.2" && row.code == "Client" {
		want, wantStatus = "Sender", 400
	}
	if got.code != want || answer.StatusCode != wantStatus || !strings.Contains(got.text, row.word) {
		t.Errorf("status %d, %+v; want %d, %s with %q", answer.StatusCode, got, wantStatus, want, row.word)
	}
}

// TestOneMessageOfTwoOperations: Hello and HelloBytes take the same message, so
// that in document/literal only the action distinguishes them.
func TestOneMessageOfTwoOperations(t *testing.T) {
	p := start(t, soapOnly)
	text := makeEnvelope("1.1", "", `<HelloRequest xmlns="urn:wirelab:transfer:v1"/>`)
	for action, want := range map[string]string{
		"urn:wirelab:transfer:v1#Hello":        ">Hello, wirelab<",
		"urn:wirelab:transfer:v1#HelloBytes":   ">SGVsbG8sIHdpcmVsYWI=<",
		"":                                     "several operations",
		"urn:wirelab:transfer:v1#UploadStream": "action",
	} {
		answer := mustCall(t, p, "http/1.1", "POST", "/transfer/soap", []byte(text), soapHeader("1.1", action)...)
		if !strings.Contains(string(answer.body), want) {
			t.Errorf("action %q: %s", action, answer.body)
		}
	}
}

func TestUsernameToken(t *testing.T) {
	for version := range envelopes {
		p := start(t, soapOnly.with("contract", "charging").with("stack.soap", version).
			with("store.username", "Jürgen").with("store.password", "p & w"))
		for name, row := range map[string]struct {
			header string
			ok     bool
		}{
			"right":          {usernameToken("Jürgen", "p &amp; w", "PasswordText"), true},
			"no type":        {strings.Replace(usernameToken("Jürgen", "p &amp; w", "PasswordText"), "Type=", "Of=", 1), true},
			"next to others": {`<a xmlns="urn:a"/>` + usernameToken("Jürgen", "p &amp; w", "PasswordText"), true},
			"wrong user":     {usernameToken("Jurgen", "p &amp; w", "PasswordText"), false},
			"wrong":          {usernameToken("Jürgen", "p", "PasswordText"), false},
			"digest":         {usernameToken("Jürgen", "p &amp; w", "PasswordDigest"), false},
			"no password":    {`<w:Security xmlns:w="` + wsse + `"><w:UsernameToken><w:Username>Jürgen</w:Username></w:UsernameToken></w:Security>`, false},
			"none":           {"", false},
			"another block":  {`<w:Security xmlns:w="urn:w"><w:UsernameToken/></w:Security>`, false},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				answer := mustCall(t, p, "http/1.1", "POST", "/charging/soap", []byte(makeEnvelope(version, row.header, credit)),
					soapHeader(version, "urn:wirelab:charging:v1#CreditControl")...)
				want := soapRow{code: "", word: ""}
				if !row.ok {
					want = soapRow{code: "Client", word: "authentication failed"}
				}
				checkSOAP(t, answer, version, want)
			})
		}
	}
}

// TestSOAPOverHTTP: what is wrong before an envelope is read.
func TestSOAPOverHTTP(t *testing.T) {
	p := start(t, soapOnly)
	text := makeEnvelope("1.1", "", `<HelloRequest xmlns="urn:wirelab:transfer:v1"/>`)
	for name, row := range map[string]struct {
		method, path, mediaType string
		status                  int
	}{
		"GET":              {"GET", "/transfer/soap", "", 405},
		"a query":          {"GET", "/transfer/soap?xsd", "", 405},
		"the description":  {"GET", "/transfer/soap?WSDL", "", 200},
		"its head":         {"HEAD", "/transfer/soap?wsdl", "", 405},
		"with PUT":         {"PUT", "/transfer/soap?wsdl", "", 405},
		"PUT":              {"PUT", "/transfer/soap", "text/xml", 405},
		"another path":     {"POST", "/transfer/soap/", "text/xml", 404},
		"of REST":          {"POST", "/transfer/submit", "text/xml", 404},
		"no type":          {"POST", "/transfer/soap", "", 415},
		"JSON":             {"POST", "/transfer/soap", "application/json", 415},
		"type of SOAP 1.2": {"POST", "/transfer/soap", "application/soap+xml", 415},
		"right":            {"POST", "/transfer/soap", `text/xml;charset="UTF-8"`, 200},
	} {
		t.Run(name, func(t *testing.T) {
			answer := mustCall(t, p, "http/1.1", row.method, row.path, []byte(text), "Content-Type", row.mediaType,
				"SOAPAction", "urn:wirelab:transfer:v1#Hello")
			if answer.StatusCode != row.status {
				t.Errorf("status %d, want %d: %s", answer.StatusCode, row.status, answer.body)
			}
			if row.status == 405 && answer.Header.Get("Allow") != "GET, POST" {
				t.Errorf("Allow: %q", answer.Header.Get("Allow"))
			}
		})
	}
}

package xmlmap

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	calendarpb "wirelab/services/go/calendarpb"
	chargingpb "wirelab/services/go/chargingpb"
	"wirelab/services/go/internal/contract"
	transferpb "wirelab/services/go/transferpb"
)

const namespace = "urn:wirelab:transfer:v1"

// TestWriting: to the letter of contracts/README.md.
func TestWriting(t *testing.T) {
	for _, row := range []struct {
		message proto.Message
		want    string
	}{
		{&transferpb.HelloRequest{}, `<HelloRequest xmlns="N"></HelloRequest>`},
		{&transferpb.Record{Id: math.MinInt64, Item: " <&>\"'\r\n\té "}, `<Record xmlns="N"><id>-9223372036854775808</id>` +
			"<quantity>0</quantity><item> &lt;&amp;&gt;\"'&#13;\n\té </item><remark></remark></Record>"},
		{&transferpb.SubmitReply{Refused: []*transferpb.Refusal{{Id: 1}, {Id: 2, Reason: "r"}}},
			`<SubmitReply xmlns="N"><batch></batch><accepted>0</accepted><quantity_total>0</quantity_total>` +
				`<refused><id>1</id><reason></reason></refused><refused><id>2</id><reason>r</reason></refused></SubmitReply>`},
		{&transferpb.UploadRequest{Data: []byte{0, 255}}, `<UploadRequest xmlns="N"><data>AP8=</data></UploadRequest>`},
		{&calendarpb.Entry{Open: true, Weight: math.Inf(-1)},
			`<Entry xmlns="N"><slot>0</slot><title></title><open>true</open><weight>-INF</weight></Entry>`},
		{&calendarpb.Entry{Weight: -7}, `<Entry xmlns="N"><slot>0</slot><title></title><open>false</open><weight>-7.0</weight></Entry>`},
	} {
		want := Declaration + strings.Replace(row.want, "N", namespace, 1)
		if got := string(Marshal(row.message, namespace)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := string(ErrorElement("a<\x00\ufffe\r", "u")); got != Declaration+`<Error xmlns="u"><error>a&lt;`+"\ufffd\ufffd"+`&#13;</error></Error>` {
		t.Error(got)
	}
}

// TestDoublesComeBack: every double is read as it was written.
func TestDoublesComeBack(t *testing.T) {
	for _, weight := range []float64{0, math.Copysign(0, -1), 0.1, 1e21, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64,
		math.Inf(1), math.Inf(-1), math.NaN(), 1 << 60} {
		var back calendarpb.Entry
		if err := Unmarshal(Marshal(&calendarpb.Entry{Weight: weight}, "n"), &back, "n"); err != nil {
			t.Fatal(err)
		}
		if math.Float64bits(back.Weight) != math.Float64bits(weight) && weight == weight {
			t.Errorf("%v came back as %v", weight, back.Weight)
		}
	}
}

func TestStringsKeepEveryLegalCharacter(t *testing.T) {
	var text strings.Builder
	text.WriteString(" \t\n\r\n\r ")
	for r := rune(0x20); r <= 0x10FFFF; r += 1 + r/50 {
		if r < 0xD800 || r > 0xDFFF && r != 0xFFFE && r != 0xFFFF {
			text.WriteRune(r)
		}
	}
	text.WriteString("]]> \u2028\u0085\uFEFF\U0001F529 \r")
	sent := &transferpb.HelloReply{Text: text.String()}
	var back transferpb.HelloReply
	if err := Unmarshal(Marshal(sent, namespace), &back, namespace); err != nil || back.Text != sent.Text {
		t.Errorf("%v: %d of %d bytes came back", err, len(back.Text), len(sent.Text))
	}
}

// makeSubmitRequest returns the message of every accepted document below.
func makeSubmitRequest() *transferpb.SubmitRequest {
	return &transferpb.SubmitRequest{Batch: " b\r\n", Records: []*transferpb.Record{{Id: -5, Quantity: 7, Item: "<a>"}, {}}}
}

const plain = `<SubmitRequest xmlns="N"><batch> b&#13;
</batch><records><id>-5</id><quantity>7</quantity><item>&lt;a&gt;</item></records><records></records></SubmitRequest>`

// TestReading: other ways to say the same.
func TestReading(t *testing.T) {
	for name, text := range map[string]string{
		"plain":        plain,
		"declared":     Declaration + plain,
		"with a mark":  "\uFEFF" + plain,
		"prefixed":     `<x:SubmitRequest xmlns:x="N"><x:batch> b&#xD;&#10;</x:batch><x:records><x:id>-5</x:id><x:quantity>7</x:quantity><x:item>&lt;a></x:item></x:records><x:records/></x:SubmitRequest>`,
		"two prefixes": `<x:SubmitRequest xmlns:x="N" xmlns:y="N"><y:batch> b&#13;&#10;</y:batch><records xmlns="N"><id>-5</id><quantity>7</quantity><y:item>&#60;a&#x3e;</y:item></records><x:records/></x:SubmitRequest>`,
		"spaced": `<?xml version="1.0" encoding="utf-8" standalone="yes"?><!-- c --><?p i?>
 <SubmitRequest xmlns='N' >
	<batch> b&#13;` + "\r\n" + `</batch> <!-- <batch>no</batch> --> <records> <id> -5 </id><quantity>
+07</quantity><item><![CDATA[<a]]>&gt;<!-- --></item>
 </records><records
 /> </SubmitRequest
> <!-- end --> `,
		"no references":    `<SubmitRequest xmlns="N"><!-- &#xD800; --><new><![CDATA[&#xD800;]]></new><batch> b&#13;&#10;</batch><records><id>-5</id><quantity>7</quantity><item>&#000060;a&#x00003e;</item></records><records/></SubmitRequest>`,
		"other order":      `<SubmitRequest xmlns="N"><records><item>&lt;a&gt;</item><quantity>7</quantity><id>-5</id><remark/></records><records><id>0</id></records><batch> b&#13;&#10;</batch></SubmitRequest>`,
		"unknown elements": `<SubmitRequest xmlns="N" a="b"><new><batch>no</batch>text</new><batch c="d"> b&#13;&#10;</batch><o:batch xmlns:o="urn:o">no</o:batch><batch xmlns="">no</batch><records><id>-5</id><quantity>7</quantity><item>&lt;a&gt;</item></records><records><q/></records></SubmitRequest>`,
	} {
		var got transferpb.SubmitRequest
		err := Unmarshal([]byte(strings.ReplaceAll(text, `"N"`, `"`+namespace+`"`)), &got, namespace)
		if strings.Contains(text, "'N'") {
			err = Unmarshal([]byte(strings.ReplaceAll(text, `'N'`, `'`+namespace+`'`)), &got, namespace)
		}
		if err != nil || !proto.Equal(&got, makeSubmitRequest()) {
			t.Errorf("%s: %v, %v", name, err, &got)
		}
	}
}

// TestListsEndAtTheirBound: contracts/README.md, Sizes.
func TestListsEndAtTheirBound(t *testing.T) {
	for items, want := range map[int]error{contract.ItemsMax: nil, contract.ItemsMax + 1: contract.ErrItems} {
		text := `<SubmitRequest xmlns="n">` + strings.Repeat("<records/>", items) + `</SubmitRequest>`
		if err := Unmarshal([]byte(text), &transferpb.SubmitRequest{}, "n"); !errors.Is(err, want) {
			t.Errorf("%d items: %v, want %v", items, err, want)
		}
	}
}

func TestScalars(t *testing.T) {
	booked := func(fields string) (*calendarpb.BookRequest, error) {
		var got calendarpb.BookRequest
		err := Unmarshal([]byte(`<BookRequest xmlns="n">`+fields+`</BookRequest>`), &got, "n")
		return &got, err
	}
	for text, want := range map[string]*calendarpb.BookRequest{
		`<open>1</open>`:                   {Open: true},
		"<open>\n true\t</open>":           {Open: true},
		`<open>0</open>`:                   {},
		`<weight>INF</weight>`:             {Weight: math.Inf(1)},
		`<weight>-.5e-3</weight>`:          {Weight: -0.0005},
		`<weight> 1E2 </weight>`:           {Weight: 100},
		`<day>2147483647</day>`:            {Day: math.MaxInt32},
		`<day>-2147483648</day>`:           {Day: math.MinInt32},
		`<owner></owner>`:                  {},
		`<owner> a </owner>`:               {Owner: " a "},
		`<owner>a<![CDATA[ & ]]>b</owner>`: {Owner: "a & b"},
	} {
		if got, err := booked(text); err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"<open></open>", "<open>TRUE</open>", "<open>yes</open>", "<open>2</open>",
		"<day></day>", "<day>1.0</day>", "<day>1e3</day>", "<day>0x1</day>", "<day>1_0</day>", "<day>2147483648</day>", "<day>1 2</day>",
		"<day>\u00a01</day>", "<weight></weight>", "<weight>inf</weight>", "<weight>+Inf</weight>", "<weight>infinity</weight>",
		"<weight>nan</weight>", "<weight>0x1p3</weight>", "<weight>1_0</weight>", "<weight>1,5</weight>", "<weight>1e400</weight>",
		"<owner>a<b/>c</owner>", "<day><day>1</day></day>"} {
		if got, err := booked(text); err == nil {
			t.Errorf("%s was taken for %v", text, got)
		}
	}
}

func TestBase64(t *testing.T) {
	for text, want := range map[string]string{"": "", "aGVsbG8=": "hello", " aGVs\r\n\tbG8 = ": "hello", "!": "no",
		"aGVsbG8": "no", "aGVsbG8==": "no", "aGVs-G8=": "no"} {
		var got transferpb.UploadRequest
		err := Unmarshal([]byte(`<UploadRequest xmlns="n"><data>`+text+`</data></UploadRequest>`), &got, "n")
		if (err != nil) != (want == "no") || err == nil && string(got.Data) != want {
			t.Errorf("%q: %q, %v", text, got.Data, err)
		}
	}
}

// TestRefusedDocuments: with a reason, and never with the message's fields.
func TestRefusedDocuments(t *testing.T) {
	nested := strings.Repeat("<a>", DepthMax) + strings.Repeat("</a>", DepthMax)
	for name, row := range map[string]struct {
		text string
		want error
	}{
		"document type":                    {`<!DOCTYPE CreditRequest><CreditRequest xmlns="n"/>`, ErrDoctype},
		"entity bomb":                      {`<!DOCTYPE a [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><CreditRequest xmlns="n"><id>&b;</id></CreditRequest>`, ErrDoctype},
		"external entity":                  {`<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><CreditRequest xmlns="n"><id>&a;</id></CreditRequest>`, ErrDoctype},
		"late document type":               {`<CreditRequest xmlns="n"><!DOCTYPE a></CreditRequest>`, ErrDoctype},
		"trailing document type":           {`<CreditRequest xmlns="n"/><!DOCTYPE a>`, ErrDoctype},
		"attributes without end":           {`<CreditRequest xmlns="n"` + strings.Repeat(` a=""`, 100_000) + `/>`, ErrTag},
		"a name without end":               {`<CreditRequest xmlns="n"><` + strings.Repeat(`a`, 100_000), ErrTag},
		"hidden attributes":                {`<CreditRequest xmlns="n" q='>"'` + strings.Repeat(` a=''`, 100_000) + `/>`, ErrTag},
		"a surrogate":                      {`<CreditRequest xmlns="n"><a>&#00000xd800;</a></CreditRequest>`, nil},
		"half a character":                 {`<CreditRequest xmlns="n"><a>x&#xDBff;&#xdc00;</a></CreditRequest>`, ErrReference},
		"half a character in an attribute": {`<CreditRequest xmlns="n" a="&#57343;"/>`, ErrReference},
		"a character too many":             {`<CreditRequest xmlns="n"><a>&#x110000;</a></CreditRequest>`, nil},
		"a hidden surrogate":               {`<CreditRequest xmlns="n"><a>&#x` + strings.Repeat("0", 100) + `D800;</a></CreditRequest>`, ErrReference},
		"many attributes":                  {`<CreditRequest xmlns="n"` + attributes(AttributesMax) + `/>`, ErrAttributes},
		"many prefixes":                    {`<CreditRequest xmlns="n">` + strings.Repeat(`<a xmlns:a="a" xmlns:b="b" xmlns:c="c">`, 50) + strings.Repeat(`</a>`, 50) + `</CreditRequest>`, ErrAttributes},
		"an attribute twice":               {`<CreditRequest xmlns="n" a="" a=""/>`, ErrTwice},
		"a namespace twice":                {`<CreditRequest xmlns="n" xmlns="n"/>`, ErrTwice},
		"an attribute by two prefixes":     {`<CreditRequest xmlns="n" xmlns:a="x" xmlns:b="x" a:c="" b:c=""/>`, ErrTwice},
		"a prefix without declaration":     {`<CreditRequest xmlns="n"><a:id>1</a:id></CreditRequest>`, ErrPrefix},
		"a prefix out of its scope":        {`<CreditRequest xmlns="n"><id xmlns:a="n">1</id><a:id>1</a:id></CreditRequest>`, ErrPrefix},
		"an attribute's prefix":            {`<CreditRequest xmlns="n" a:b=""/>`, ErrPrefix},
		"a prefix for nothing":             {`<CreditRequest xmlns="n" xmlns:a=""/>`, ErrPrefix},
		"a name of two colons":             {`<CreditRequest xmlns="n"><a:b:c/></CreditRequest>`, nil},
		"a name of a colon":                {`<CreditRequest xmlns="n"><:/></CreditRequest>`, nil},
		"ends too often":                   {`<CreditRequest xmlns="n"/></CreditRequest>`, ErrCrossed},
		"ended by another prefix":          {`<a:CreditRequest xmlns:a="n" xmlns:b="n"></b:CreditRequest>`, ErrCrossed},
		"a late declaration":               {` <?xml version="1.0"?><CreditRequest xmlns="n"/>`, nil},
		"a declaration within":             {`<CreditRequest xmlns="n"><?xml version="1.0"?></CreditRequest>`, nil},
		"unknown entity":                   {`<CreditRequest xmlns="n"><id>&one;</id></CreditRequest>`, nil},
		"too deep":                         {`<CreditRequest xmlns="n">` + nested + `</CreditRequest>`, ErrDepth},
		"depth bomb":                       {strings.Repeat("<a>", 10_000_000), nil},
		"another namespace":                {`<CreditRequest xmlns="m"/>`, nil},
		"no namespace":                     {`<CreditRequest/>`, nil},
		"unbound prefix":                   {`<x:CreditRequest/>`, nil},
		"another message":                  {`<CreditReply xmlns="n"/>`, nil},
		"text":                             {`<CreditRequest xmlns="n">1</CreditRequest>`, nil},
		"two roots":                        {`<CreditRequest xmlns="n"/><CreditRequest xmlns="n"/>`, nil},
		"text behind":                      {`<CreditRequest xmlns="n"/>x`, nil},
		"text before":                      {`x<CreditRequest xmlns="n"/>`, nil},
		"tags that cross":                  {`<CreditRequest xmlns="n"><a><b></a></b></CreditRequest>`, nil},
		"not UTF-8":                        {"<CreditRequest xmlns=\"n\"><!-- \xff --></CreditRequest>", nil},
		"another encoding":                 {`<?xml version="1.0" encoding="ISO-8859-1"?><CreditRequest xmlns="n"/>`, nil},
		"XML 1.1":                          {`<?xml version="1.1"?><CreditRequest xmlns="n"/>`, nil},
		"NUL":                              {"<CreditRequest xmlns=\"n\"><a>\x00</a></CreditRequest>", nil},
		"reference to NUL":                 {`<CreditRequest xmlns="n"><a>&#0;</a></CreditRequest>`, nil},
		"nothing":                          {``, nil},
		"blank":                            {" \n", nil},
		"a declaration only":               {Declaration, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := Unmarshal([]byte(row.text), &chargingpb.CreditRequest{}, "n")
			if err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
		})
	}
}

// TestLongMarkupThatIsNotATag: comments, CDATA and text may be of any length.
func TestLongMarkupThatIsNotATag(t *testing.T) {
	long := strings.Repeat("<a b='", TagBytesMax)
	for _, text := range []string{"<!-- " + long + "-->", "<new><![CDATA[" + long + "]]></new>", "<?p " + long + "?>",
		"<new>" + strings.Repeat(`"`, 2*TagBytesMax) + "</new>"} {
		if err := Unmarshal([]byte(`<CreditRequest xmlns="n">`+text+`</CreditRequest>`), &chargingpb.CreditRequest{}, "n"); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

// attributes returns that number of attributes with different names.
func attributes(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, ` a%d=""`, i)
	}
	return text.String()
}

func TestManyNamesThatAreAllowed(t *testing.T) {
	text := `<CreditRequest xmlns="n"` + attributes(AttributesMax-1) + `>` +
		strings.Repeat(`<a xmlns="n" xmlns:a="a" xmlns:b="b" a:c="" b:c="" c="" xml:lang="en"/>`, 1000) + `<id>7</id></CreditRequest>`
	var got chargingpb.CreditRequest
	if err := Unmarshal([]byte(text), &got, "n"); err != nil || got.Id != 7 {
		t.Errorf("%v, %v", err, &got)
	}
}

func TestDepthThatIsAllowed(t *testing.T) {
	nested := strings.Repeat("<a>", DepthMax-1) + strings.Repeat("</a>", DepthMax-1)
	if err := Unmarshal([]byte(`<CreditRequest xmlns="n">`+nested+`</CreditRequest>`), &chargingpb.CreditRequest{}, "n"); err != nil {
		t.Error(err)
	}
}

// TestTruncation: a document is refused wherever it is cut.
func TestTruncation(t *testing.T) {
	text := Marshal(&transferpb.SubmitRequest{Batch: "b&ü", Records: []*transferpb.Record{{Id: 1, Item: "<i>"}, {Remark: "r"}}}, namespace)
	text = bytes.Replace(text, []byte("<id>"), []byte("<!-- c --><new a='b'><![CDATA[x]]></new><id>"), 1)
	if err := Unmarshal(text, &transferpb.SubmitRequest{}, namespace); err != nil {
		t.Fatal(err)
	}
	for end := range text {
		if err := Unmarshal(text[:end], &transferpb.SubmitRequest{}, namespace); err == nil {
			t.Errorf("taken when cut after %d bytes: %s", end, text[:end])
		}
	}
}

// TestLargeFilesAreRead: the bound only guards against time that grows with the
// square of the size.
func TestLargeFilesAreRead(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 2_500_000)
	text := Marshal(&transferpb.UploadRequest{Data: data}, namespace)
	if len(text) < base64.StdEncoding.EncodedLen(len(data)) {
		t.Fatalf("only %d bytes", len(text))
	}
	var got transferpb.UploadRequest
	begin := time.Now()
	if err := Unmarshal(text, &got, namespace); err != nil || !bytes.Equal(got.Data, data) {
		t.Errorf("%v, %d bytes", err, len(got.Data))
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("25 MB took %v", took)
	} else {
		t.Logf("25 MB took %v", took)
	}
}

// TestParts: lists as rpc/literal has them.
func TestParts(t *testing.T) {
	message := &transferpb.SubmitRequest{Batch: "b", Records: []*transferpb.Record{{Id: 1}}}
	text := string(AppendParts(nil, message))
	if text != `<batch>b</batch><records><item><id>1</id><quantity>0</quantity><item></item><remark></remark></item></records>` {
		t.Error(text)
	}
	if text := string(AppendParts(nil, &transferpb.SubmitRequest{})); text != `<batch></batch><records></records>` {
		t.Error(text)
	}
	for text, want := range map[string]int{text: 1, "<records/>": 0, "": 0,
		"<records><item/><x/><item/></records>": 2, `<records><item xmlns="n"/></records>`: 0} {
		var got transferpb.SubmitRequest
		document, err := Open([]byte("<a>" + text + "</a>"))
		if err == nil {
			_, err = document.Root()
		}
		if err == nil {
			err = document.Parts(&got)
		}
		if err != nil || len(got.Records) != want {
			t.Errorf("%s: %v, %v", text, &got, err)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(strings.ReplaceAll(plain, `"N"`, `"`+namespace+`"`)))
	f.Add(Marshal(makeSubmitRequest(), namespace))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, back transferpb.SubmitRequest
		if Unmarshal(text, &got, namespace) != nil {
			return
		}
		if err := Unmarshal(Marshal(&got, namespace), &back, namespace); err != nil || !proto.Equal(&got, &back) {
			t.Errorf("%v: %v came back as %v", err, &got, &back)
		}
	})
}

package contract_test

import (
	"errors"
	"strings"
	"testing"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/transferpb"
)

// TestListsEndAtTheirBound: at the bound, one beyond, and next to what only
// looks like items.
func TestListsEndAtTheirBound(t *testing.T) {
	submit, item := &pb.SubmitRequest{}, "\x12\x00"
	objects := func(count int) string {
		return `{"records":[` + strings.Repeat("{},", count-1) + `{}]}`
	}
	for name, row := range map[string]struct {
		err  error
		want error
	}{
		"protobuf":          {contract.CheckProtobuf(submit, []byte(strings.Repeat(item, contract.ItemsMax))), nil},
		"protobuf, beyond":  {contract.CheckProtobuf(submit, []byte("\x0a\x01b"+strings.Repeat(item, contract.ItemsMax+1))), contract.ErrItems},
		"protobuf, batches": {contract.CheckProtobuf(submit, []byte(strings.Repeat("\x0a\x00", contract.ItemsMax+1))), nil},
		"protobuf, cut":     {contract.CheckProtobuf(submit, []byte(strings.Repeat(item, contract.ItemsMax)+"\x12\x7f")), nil},
		"protobuf, no list": {contract.CheckProtobuf(&pb.UploadRequest{}, []byte(strings.Repeat(item, contract.ItemsMax+1))), nil},
		"JSON":              {contract.CheckJSON([]byte(objects(contract.ItemsMax))), nil},
		"JSON, beyond":      {contract.CheckJSON([]byte(objects(contract.ItemsMax + 1))), contract.ErrItems},
		"JSON, in a string": {contract.CheckJSON([]byte(`{"batch":"\"` + strings.Repeat("{", 5*contract.ItemsMax) + `"}`)), nil},
	} {
		if !errors.Is(row.err, row.want) || (row.want == nil) != (row.err == nil) {
			t.Errorf("%s: %v, want %v", name, row.err, row.want)
		}
	}
}

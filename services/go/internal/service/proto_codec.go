package service

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"wirelab/services/go/internal/contract"
)

// protoCodec is grpc-go's own codec, but that it counts the items of lists
// before they are decoded.
type protoCodec struct{ encoding.CodecV2 }

func newProtoCodec() protoCodec { return protoCodec{encoding.GetCodecV2(protocodec.Name)} }

// Unmarshal implements encoding.CodecV2.
func (protoCodec) Unmarshal(data mem.BufferSlice, into any) error {
	message, ok := into.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", into)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	if err := contract.CheckProtobuf(message, buffer.ReadOnlyData()); err != nil {
		return err
	}
	return proto.Unmarshal(buffer.ReadOnlyData(), message)
}

package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"wirelab/services/go/internal/contract"
	pb "wirelab/services/go/transferpb"
)

// Limits of files and of their chunks, in bytes.
const (
	BytesMax      = 64 << 20
	ChunkBytesMax = 1 << 20
)

// Application errors of Upload, UploadStream and Download.
const (
	ErrBytes      contract.ApplicationError = "at most 67108864 bytes"
	ErrLength     contract.ApplicationError = "length must be 0 to 67108864"
	ErrChunkBytes contract.ApplicationError = "chunk_bytes must be 1 to 1048576"
)

func upload(request *pb.UploadRequest) (*pb.UploadReply, error) {
	length := int64(len(request.GetData()))
	if length > BytesMax {
		return nil, ErrBytes
	}
	digest := sha256.Sum256(request.GetData())
	return &pb.UploadReply{Length: length, Sha256: hex.EncodeToString(digest[:])}, nil
}

func uploadStream(messages contract.Messages) error {
	digest, length := sha256.New(), int64(0)
	for {
		chunk := &pb.UploadChunk{}
		err := messages.RecvMsg(chunk)
		if errors.Is(err, io.EOF) {
			return messages.SendMsg(&pb.UploadReply{Length: length, Sha256: hex.EncodeToString(digest.Sum(nil))})
		}
		if err != nil {
			return err
		}
		if length += int64(len(chunk.GetData())); length > BytesMax {
			return ErrBytes
		}
		_, _ = digest.Write(chunk.GetData()) // a hash never fails (package hash)
	}
}

func download(messages contract.Messages) error {
	request := &pb.DownloadRequest{}
	if err := messages.RecvMsg(request); err != nil {
		return err
	}
	length, chunkBytes := request.GetLength(), request.GetChunkBytes()
	if err := checkDownload(length, chunkBytes); err != nil {
		return err
	}
	for sent := int64(0); sent < length; sent += int64(chunkBytes) {
		// A new one each time: grpc-go forbids changing a message that was sent.
		data := make([]byte, min(int64(chunkBytes), length-sent))
		FillPattern(sent, data)
		if err := messages.SendMsg(&pb.DownloadChunk{Data: data}); err != nil {
			return err
		}
	}
	return nil
}

func checkDownload(length int64, chunkBytes int32) error {
	if length < 0 || length > BytesMax {
		return ErrLength
	}
	if chunkBytes < 1 || chunkBytes > ChunkBytesMax {
		return ErrChunkBytes
	}
	return nil
}

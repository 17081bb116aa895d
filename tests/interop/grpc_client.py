"""grpcio, gRPC's own library for Python (its core is in C++)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc

from tests.interop import protobuf
from tests.interop.golden import Refused
from tests.interop.hosting import Hosted

Json = dict[str, Any]
SECONDS_MAX = 60
"""A bound against hanging, for one call."""
MESSAGE_BYTES_MAX = 80 * 1024 * 1024


class GrpcClient:
    """A channel with one connection; generic methods, messages by Google's protobuf."""

    def __init__(self, hosted: Hosted) -> None:
        self._contract = hosted.contract
        self._service = f"/wirelab.{hosted.contract}.v1.{hosted.contract.capitalize()}"
        options: list[tuple[str, int | str]] = [
            ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
            ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
            ("grpc.enable_http_proxy", 0),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        if hosted.address.startswith("unix:"):
            # gRPC's own authority there is the path with %2F, which Rust's crate http refuses.
            options.append(("grpc.default_authority", "localhost"))
        if hosted.tls is None:
            self._channel = grpc.insecure_channel(hosted.address, options)
        else:
            options.append(("grpc.ssl_target_name_override", "localhost"))
            credentials = _credentials(hosted.tls.of_client(hosted.stack.axes.security))
            self._channel = grpc.secure_channel(hosted.address, credentials, options)

    def __enter__(self) -> GrpcClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._channel.close()

    def call(self, operation: str, request: Json) -> Json:
        """See :class:`~tests.interop.golden.Client`; streams have methods of their own."""
        requested = "Hello" if operation == "HelloBytes" else operation
        sent = protobuf.encode(self._contract, f"{requested}Request", request)
        return protobuf.decode(
            self._contract, f"{operation}Reply", self.call_bytes(operation, sent)
        )

    def call_bytes(self, operation: str, request: bytes, compression: Any = None) -> bytes:
        """One unary call of bytes as they are. Raises :class:`Refused`."""
        method = self._channel.unary_unary(f"{self._service}/{operation}")
        with _refusals():
            return bytes(method(request, timeout=SECONDS_MAX, compression=compression))

    def download(self, request: Json) -> Iterator[bytes]:
        """The chunks of ``Download``. Raises :class:`Refused`."""
        method = self._channel.unary_stream(f"{self._service}/Download")
        sent = protobuf.encode("transfer", "DownloadRequest", request)
        with _refusals():
            for chunk in method(sent, timeout=SECONDS_MAX):
                yield _field(chunk)

    def upload_stream(self, chunks: Iterable[bytes]) -> Json:
        """``UploadStream``. Raises :class:`Refused`."""
        method = self._channel.stream_unary(f"{self._service}/UploadStream")
        messages = (_chunk(chunk) for chunk in chunks)
        with _refusals():
            reply = method(messages, timeout=SECONDS_MAX)
        return protobuf.decode("transfer", "UploadReply", reply)


class _refusals:
    """Turns status INVALID_ARGUMENT into :class:`Refused`; any other goes through."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode.INVALID_ARGUMENT:
            raise Refused(error.details()) from error


def _credentials(files: Json) -> Any:
    def read(name: str) -> bytes | None:
        if name not in files:
            return None
        return Path(files[name]).read_bytes()

    return grpc.ssl_channel_credentials(read("ca"), read("key"), read("certificate"))


def _chunk(data: bytes) -> bytes:
    return protobuf.encode_bytes("transfer", "UploadChunk", "data", data)


def _field(chunk: bytes) -> bytes:
    return protobuf.decode_bytes("transfer", "DownloadChunk", "data", chunk)

"""Reflection as servers of the tests offer it, ``grpc.reflection.v1`` or ``v1alpha``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

PACKAGE = "grpc.reflection.v1alpha"
PROTO = f"""\
syntax = "proto3";
package {PACKAGE};
message ServerReflectionRequest {{
  string host = 1;
  oneof message_request {{
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    string list_services = 7;
  }}
}}
message ServerReflectionResponse {{
  FileDescriptorResponse file_descriptor_response = 4;
  ListServiceResponse list_services_response = 6;
}}
message FileDescriptorResponse {{ repeated bytes file_descriptor_proto = 1; }}
message ListServiceResponse {{ repeated ServiceResponse service = 1; }}
message ServiceResponse {{ string name = 1; }}
"""
"""What these servers need of grpc/reflection/v1alpha/reflection.proto."""


def compile_protos(folders: list[Path], *files: str) -> descriptor_pb2.FileDescriptorSet:
    """Files of some folders, with all that they import."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "files.binpb"
        options = ["--include_imports", f"--descriptor_set_out={out}"]
        paths = [f"-I{folder}" for folder in folders]
        assert protoc.main(["protoc", *paths, *options, *files]) == 0
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())


class Reflection:
    """Describes every service of some files."""

    def __init__(self, described: descriptor_pb2.FileDescriptorSet) -> None:
        self._files = {file.name: file for file in described.file}
        with TemporaryDirectory() as folder:
            (Path(folder) / "reflection.proto").write_text(PROTO, encoding="utf-8")
            own = compile_protos([Path(folder)], "reflection.proto")
        pool = descriptor_pool.DescriptorPool()
        for file in own.file:
            pool.Add(file)

        def kind(name: str) -> Any:
            return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))

        self._request, self._response = map(
            kind, ("ServerReflectionRequest", "ServerReflectionResponse")
        )

    def handler(self, version: str) -> grpc.GenericRpcHandler:
        """For a server, in that version of the protocol: ``v1`` or ``v1alpha``."""
        info = grpc.stream_stream_rpc_method_handler(
            self._answer,
            request_deserializer=self._request.FromString,
            response_serializer=self._response.SerializeToString,
        )
        name = f"grpc.reflection.{version}.ServerReflection"
        return grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": info})

    def _answer(self, requests: Iterator[Any], context: Any) -> Iterator[Any]:
        for request in requests:
            response = self._response()
            asked = request.WhichOneof("message_request")
            if asked == "list_services":
                for name in (*self._services(), "grpc.reflection.v1.ServerReflection"):
                    response.list_services_response.service.add().name = name
            else:
                # Without what it imports, which some servers leave to be asked for.
                file = self._files.get(request.file_by_filename) or self._containing(
                    request.file_containing_symbol
                )
                response.file_descriptor_response.file_descriptor_proto.append(
                    file.SerializeToString()
                )
            yield response

    def _services(self) -> Iterator[str]:
        for file in self._files.values():
            yield from (f"{file.package}.{service.name}" for service in file.service)

    def _containing(self, symbol: str) -> descriptor_pb2.FileDescriptorProto:
        return next(
            file
            for file in self._files.values()
            for one in (*file.service, *file.message_type)
            if f"{file.package}.{one.name}" == symbol
        )

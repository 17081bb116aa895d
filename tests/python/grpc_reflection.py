"""Reflection as servers of the tests offer it, ``grpc.reflection.v1`` or ``v1alpha``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

PROTO = """\
syntax = "proto3";
package {package};
service ServerReflection {{
  rpc ServerReflectionInfo (stream ServerReflectionRequest)
      returns (stream ServerReflectionResponse);
}}
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
"""What these servers need of grpc/reflection/v1/reflection.proto."""


def compile_protos(folders: list[Path], *files: str) -> descriptor_pb2.FileDescriptorSet:
    """Files of some folders, with all that they import."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "files.binpb"
        options = ["--include_imports", f"--descriptor_set_out={out}"]
        paths = [f"-I{folder}" for folder in folders]
        assert protoc.main(["protoc", *paths, *options, *files]) == 0
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())


class Reflection:
    """Describes every service of some files, and itself, in a version of the protocol: ``v1`` or
    ``v1alpha``."""

    def __init__(self, described: descriptor_pb2.FileDescriptorSet, version: str) -> None:
        self._package = f"grpc.reflection.{version}"
        with TemporaryDirectory() as folder:
            text = PROTO.format(package=self._package)
            (Path(folder) / "reflection.proto").write_text(text, encoding="utf-8")
            own = compile_protos([Path(folder)], "reflection.proto")
        self._files = {file.name: file for file in (*described.file, *own.file)}
        self._pool = descriptor_pool.DescriptorPool()
        for file in own.file:
            self._pool.Add(file)

    def handler(self) -> grpc.GenericRpcHandler:
        """For a server."""
        info = grpc.stream_stream_rpc_method_handler(
            self._answer,
            request_deserializer=self._class("ServerReflectionRequest").FromString,
            response_serializer=self._class("ServerReflectionResponse").SerializeToString,
        )
        name = f"{self._package}.ServerReflection"
        return grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": info})

    def _class(self, name: str) -> Any:
        described = self._pool.FindMessageTypeByName(f"{self._package}.{name}")
        return message_factory.GetMessageClass(described)

    def _answer(self, requests: Iterator[Any], context: Any) -> Iterator[Any]:
        for request in requests:
            response = self._class("ServerReflectionResponse")()
            if request.WhichOneof("message_request") == "list_services":
                for name in self._services():
                    response.list_services_response.service.add().name = name
            else:
                # Without what it imports, which some servers leave to be asked for.
                content = self._find(request).SerializeToString()
                response.file_descriptor_response.file_descriptor_proto.append(content)
            yield response

    def _services(self) -> Iterator[str]:
        for file in self._files.values():
            yield from (f"{file.package}.{service.name}" for service in file.service)

    def _find(self, request: Any) -> descriptor_pb2.FileDescriptorProto:
        """The file of that name, or the one that defines the symbol."""
        if request.WhichOneof("message_request") == "file_by_filename":
            return self._files[request.file_by_filename]
        return next(
            file
            for file in self._files.values()
            for one in (*file.service, *file.message_type)
            if f"{file.package}.{one.name}" == request.file_containing_symbol
        )

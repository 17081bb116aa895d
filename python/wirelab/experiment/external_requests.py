"""Requests to user-defined services over HTTP and gRPC, as experiment files declare them."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from wirelab.experiment.fields import Headers, HttpMethod, HttpPath, Json, Model, refuse_host
from wirelab.experiment.yaml_model import FOLDER
from wirelab.format import media_types
from wirelab.format.untrusted import read_bounded
from wirelab.secrets.finding import hide_content

BODY_BYTES_MAX = 64 * 1024 * 1024
Compression = Literal["none", "gzip", "zstd"]
GrpcMethod = Annotated[str, Field(pattern=r"^/?[A-Za-z_][\w.]*/[A-Za-z_]\w*$")]


class ProtobufType(Model):
    """The message type as which a body is sent."""

    proto: str = Field(description=".proto file or descriptor set, relative to the experiment file")
    name: str = Field(
        pattern=r"^[A-Za-z_][\w.]*$", description="full name of the type: package.Message"
    )
    include: tuple[str, ...] = Field((), description="folders with files that it imports")


class WithBody(Model):
    """Content of a request: at most one of three keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    body: str | None = Field(None, description="content as text")
    body_file: str | None = Field(
        None, description="content from a file, relative to the experiment file"
    )
    json_: Any = Field(None, alias="json", description="content as JSON; for gRPC: the message")
    protobuf: ProtobufType | None = Field(
        None, description="HTTP only: send the JSON as Protobuf of this type"
    )
    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        """Remembers the folder to resolve relative paths."""
        self._folder = (context or {}).get(FOLDER) or Path()

    def __hash__(self) -> int:
        """Hashes all keys; JSON values have no hash of their own."""
        return hash(self.model_dump_json())

    @model_validator(mode="after")
    def _check_one_body(self) -> WithBody:
        given = [k for k in ("body", "body_file", "json_") if k in self.model_fields_set]
        if len(given) > 1:
            raise ValueError("write only one of body, body_file and json")
        if self.protobuf is not None and not given:
            raise ValueError("protobuf needs its message as JSON: write json, body or body_file")
        return self

    @property
    def has_body(self) -> bool:
        """Whether it has content."""
        return bool({"body", "body_file", "json_"} & self.model_fields_set)

    @property
    def is_json(self) -> bool:
        """Whether the content is given as JSON."""
        return "json_" in self.model_fields_set

    @cached_property
    def content(self) -> bytes:
        """The content to send; empty if there is none. Raises :class:`OSError`, and
        :class:`ValueError` for a file that is too large or not a regular one."""
        if self.body_file is not None:
            return read_bounded(self._folder / self.body_file, BODY_BYTES_MAX)
        if self.is_json:
            return json.dumps(self.json_, separators=(",", ":"), ensure_ascii=False).encode()
        return (self.body or "").encode()

    @property
    def content_type(self) -> str:
        """The content type that the keys imply; empty where they imply none."""
        if self.protobuf is not None:
            return media_types.PROTOBUF
        return media_types.JSON if self.is_json else ""

    def describe_body(self) -> Json:
        """The part of the engine's workload with the content and its type."""
        body: Json = {"body_base64": base64.b64encode(self.content).decode()}
        if (named := self.protobuf) is not None:
            body["protobuf"] = {**self._locate(named.proto, named.include), "name": named.name}
        return body

    def _locate(self, proto: str, include: tuple[str, ...]) -> Json:
        """Keys of the engine's plan for a .proto and the folders of its imports."""
        return {
            "proto": str((self._folder / proto).resolve()),
            "include": [str((self._folder / folder).resolve()) for folder in include],
        }

    @cached_property
    def digest(self) -> str:
        """Digest of the content, without its secrets. Raises :class:`OSError`."""
        return hashlib.sha256(hide_content(self.content)).hexdigest()

    def sha256(self) -> Json:
        """Digest of a content file, which is not part of the experiment file; empty without one.
        Raises :class:`OSError`."""
        found: Json = {} if self.body_file is None else {"body_file": self.digest}
        return found if self.protobuf is None else {**found, "protobuf": self.protobuf_sha256}

    @property
    def protobuf_sha256(self) -> str:
        """Digest of the .proto of the body's type; empty without one. Raises :class:`OSError`."""
        if self.protobuf is None:
            return ""
        return hashlib.sha256((self._folder / self.protobuf.proto).read_bytes()).hexdigest()

    @property
    def problem(self) -> str:
        """Why the content cannot be read; empty if it can."""
        if self.protobuf is not None and not (self._folder / self.protobuf.proto).is_file():
            return f"protobuf.proto: {self._folder / self.protobuf.proto}: no such file"
        try:
            size = len(self.content)
        except OSError as error:
            return f"body_file: {self._folder / (self.body_file or '')}: {error.strerror}"
        except ValueError as error:
            return f"body_file: {error}"
        return "" if size <= BODY_BYTES_MAX else f"the body is larger than {BODY_BYTES_MAX:,} B"


class HttpRequest(WithBody):
    """A request to an HTTP service."""

    method: HttpMethod | None = Field(None, description="default: GET, or POST with a body")
    path: HttpPath = Field("/", description="path and query; may have ${VARIABLE}")
    headers: Headers = Field(
        default_factory=dict,
        description="name: value, or a list of values; a value may have ${VARIABLE}",
    )
    version: Literal["1.1", "2"] = Field("1.1", description="HTTP version")
    compression: Compression = Field(
        "none", description="compresses the content, and asks for a compressed reply"
    )

    _without_host = field_validator("headers")(refuse_host)


class GrpcRequest(WithBody):
    """A request to a gRPC service."""

    method: GrpcMethod = Field(description="package.Service/Method")
    proto: str | None = Field(
        None, description=".proto file or descriptor set, relative to the experiment file"
    )
    reflect: bool = Field(False, description="use server reflection instead of proto")
    include: tuple[str, ...] = Field((), description="folders with files that it imports")
    metadata: Headers = Field(
        default_factory=dict,
        description="key: value, or a list of values; a value may have ${VARIABLE}",
    )
    compression: Compression = Field(
        "none", description="compresses the message, and asks for a compressed reply"
    )

    @property
    def path(self) -> str:
        """``/package.Service/Method``."""
        return f"/{self.method.removeprefix('/')}"

    @property
    def is_described(self) -> bool:
        """Whether messages can be given as JSON."""
        return self.proto is not None or self.reflect

    def describe_method(self) -> Json:
        """The part of the engine's workload that describes the method."""
        if self.proto is None:
            return {"reflect": True} if self.reflect else {}
        return self._locate(self.proto, self.include)

    def sha256(self) -> Json:
        """Digest of the files that it names. Raises :class:`OSError`."""
        found = super().sha256()
        if self.proto is not None:
            content = (self._folder / self.proto).read_bytes()
            found["proto"] = hashlib.sha256(content).hexdigest()
        return found

    @property
    def problem(self) -> str:
        """Why the request cannot be made; empty if it can."""
        if self.proto is not None and not (self._folder / self.proto).is_file():
            return f"grpc.proto: {self._folder / self.proto}: no such file"
        if self.proto is not None and self.reflect:
            return "grpc.proto and grpc.reflect exclude each other: give only one of them"
        if self.protobuf is not None:
            return "protobuf belongs to requests over HTTP: gRPC has it from grpc.proto"
        if self.is_json and not self.is_described:
            return "grpc.json needs grpc.proto, which describes the message, or grpc.reflect"
        return super().problem

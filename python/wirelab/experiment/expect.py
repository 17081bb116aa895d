"""Expected replies of user-defined services, as experiment files declare them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from wirelab.experiment.fields import Json, Model, Size
from wirelab.experiment.yaml_model import FOLDER

OF_HTTP = ("status", "json", "json_schema")
OF_GRPC = ("grpc_status", "message")
"""Keys that replies of one protocol have and those of the other do not."""
SIZE_MAX = 2**63


class SizeRange(Model):
    """A range of sizes."""

    min: Size | None = Field(None, description="minimum, e.g. 100 B")
    max: Size | None = Field(None, description="maximum")

    @model_validator(mode="after")
    def _require_bounds(self) -> SizeRange:
        if self.min is None and self.max is None:
            raise ValueError("write min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is more than max")
        return self


class Expect(Model):
    """Definition of a correct reply; parts that are not given are not checked. A reply that does
    not match counts as an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    status: int | None = Field(None, ge=100, le=599, description="HTTP status; default: any 2xx")
    headers: dict[str, str] = Field(
        default_factory=dict, max_length=64, description="name: value; for gRPC: metadata"
    )
    json_: Any = Field(
        None,
        alias="json",
        description="part of the body: keys that must be present with these values",
    )
    json_schema: dict[str, object] | str | None = Field(
        None, description="JSON Schema of the body, or its file, relative to the experiment file"
    )
    sha256: str | None = Field(
        None,
        pattern="^[0-9a-fA-F]{64}$",
        description="SHA-256 of the body; for gRPC of each message",
    )
    bytes: SizeRange | None = Field(None, description="size of the body; for gRPC of each message")
    grpc_status: int | None = Field(None, ge=0, le=2**32 - 1, description="gRPC status; default: 0")
    message: Any = Field(
        None, description="part of the gRPC reply as proto3 JSON; needs grpc.proto"
    )
    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        """Remembers the folder to resolve relative paths."""
        self._folder = (context or {}).get(FOLDER) or Path()

    def __hash__(self) -> int:
        """Hashes all values; JSON values have no hash of their own."""
        return hash(self.model_dump_json())

    @field_validator("sha256")
    @classmethod
    def _lower_case(cls, digest: str | None) -> str | None:
        return digest.lower() if digest else digest

    @model_validator(mode="after")
    def _says_something(self) -> Expect:
        if not self.keys:
            raise ValueError(f"write one of {', '.join(_aliases())}")
        for key in ("json_", "message"):
            if key in self.model_fields_set and getattr(self, key) is None:
                raise ValueError(f"{_alias(key)}: null has no effect: leave it out")
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that have a value, in the order of the model."""
        given = (name for name in type(self).model_fields if name in self.model_fields_set)
        return tuple(_alias(name) for name in given)

    def foreign_key(self, kind: Literal["http", "grpc"]) -> str:
        """Explains which key replies of that kind do not have; empty if there is none."""
        foreign, own = (OF_GRPC, OF_HTTP) if kind == "http" else (OF_HTTP, OF_GRPC)
        found = next((key for key in self.keys if key in foreign), None)
        return (
            found and f"expect.{found}: replies of {kind} do not have this; use {', '.join(own)}"
        ) or ""

    @property
    def problem(self) -> str:
        """Why the schema's file cannot be read; empty if it can."""
        if not isinstance(self.json_schema, str):
            return ""
        path = self._folder / self.json_schema
        try:
            json.loads(path.read_bytes())
        except OSError as error:
            return f"expect.json_schema: {path}: {error.strerror}"
        except ValueError as error:
            return f"expect.json_schema: {path}: the file is not JSON: {error}"
        return ""

    @property
    def plan(self) -> Json:
        """The object ``expect`` of a workload in the engine's plan. Raises :class:`OSError`."""
        given = self.model_dump(mode="json", include=self.model_fields_set, exclude_none=True)
        if isinstance(self.json_schema, str):
            given["json_schema"] = json.loads((self._folder / self.json_schema).read_bytes())
        return given


def _alias(name: str) -> str:
    return Expect.model_fields[name].alias or name


def _aliases() -> list[str]:
    return [_alias(name) for name in Expect.model_fields]

"""What makes a reply right, of a service that is not of the lab, as experiment files declare it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from wirelab.experiment.fields import Json, Model, Size
from wirelab.experiment.yaml_model import FOLDER

OF_HTTP = ("status", "json", "json_schema")
OF_GRPC = ("grpc_status", "message")
"""Keys that replies of the one kind have, and those of the other do not."""
SIZE_MAX = 2**63


class SizeRange(Model):
    """A size between two."""

    min: Size | None = Field(None, description="at least, e.g. 100 B")
    max: Size | None = Field(None, description="at most")

    @model_validator(mode="after")
    def _bounded(self) -> SizeRange:
        if self.min is None and self.max is None:
            raise ValueError("write min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is more than max")
        return self


class Expect(Model):
    """What makes a reply right; what is left out is not checked. A reply that fails it is an
    error."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    status: int | None = Field(None, ge=100, le=599, description="of HTTP; default: any 2xx")
    headers: dict[str, str] = Field(
        default_factory=dict, max_length=64, description="name: value; of gRPC metadata"
    )
    json_: Any = Field(
        None,
        alias="json",
        description="part of the body: keys that must be there with these values",
    )
    json_schema: dict[str, Any] | str | None = Field(
        None, description="of the body: the schema, or its file, from the experiment file's folder"
    )
    sha256: str | None = Field(
        None, pattern="^[0-9a-fA-F]{64}$", description="of the body; of gRPC of each message"
    )
    bytes: SizeRange | None = Field(None, description="size of the body; of gRPC of each message")
    grpc_status: int | None = Field(None, ge=0, le=2**32 - 1, description="default: 0")
    message: Any = Field(None, description="part of gRPC's reply as proto3 JSON; needs grpc.proto")
    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        """Remembers where files are looked for."""
        self._folder = (context or {}).get(FOLDER) or Path()

    def __hash__(self) -> int:
        """Of all that it says; JSON has no hash of its own."""
        return hash(self.model_dump_json())

    @field_validator("sha256")
    @classmethod
    def _in_lower_case(cls, digest: str | None) -> str | None:
        return digest.lower() if digest else digest

    @model_validator(mode="after")
    def _says_something(self) -> Expect:
        if not self.keys:
            raise ValueError(f"write one of {', '.join(_aliases())}")
        for key in ("json_", "message"):
            if key in self.model_fields_set and getattr(self, key) is None:
                raise ValueError(f"{_alias(key)}: null expects nothing: leave it out")
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """Those that say something, in the order of the model."""
        given = (name for name in type(self).model_fields if name in self.model_fields_set)
        return tuple(_alias(name) for name in given)

    def foreign_key(self, kind: Literal["http", "grpc"]) -> str:
        """A key that replies of that kind do not have, and what they have; empty without."""
        foreign, own = (OF_GRPC, OF_HTTP) if kind == "http" else (OF_HTTP, OF_GRPC)
        found = next((key for key in self.keys if key in foreign), None)
        return (found and f"expect.{found}: a reply of {kind} has none; use {', '.join(own)}") or ""

    @property
    def problem(self) -> str:
        """Why the schema's file cannot be read; empty where it can."""
        if not isinstance(self.json_schema, str):
            return ""
        path = self._folder / self.json_schema
        try:
            json.loads(path.read_bytes())
        except OSError as error:
            return f"expect.json_schema: {path}: {error.strerror}"
        except ValueError as error:
            return f"expect.json_schema: {path}: it is no JSON: {error}"
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

"""Field types that experiment files share: models, and sizes and times with units."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from wirelab.errors import UnitError
from wirelab.format.units import DURATION_PATTERN, SIZE_PATTERN, parse_bytes, parse_seconds

Json = dict[str, object]


def read_size(value: object) -> int:
    """Parses a size with its unit into bytes. Raises :class:`ValueError`."""
    try:
        return parse_bytes(value)
    except UnitError as error:
        raise ValueError(error.message) from None


def read_time(value: object) -> float:
    """Parses a time with its unit into seconds. Raises :class:`ValueError`."""
    try:
        return parse_seconds(value)
    except UnitError as error:
        raise ValueError(error.message) from None


Size = Annotated[
    int, BeforeValidator(read_size), WithJsonSchema({"type": "string", "pattern": SIZE_PATTERN})
]
"""A size in bytes, written with a unit."""
Time = Annotated[
    float,
    BeforeValidator(read_time),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]
"""A time in seconds, written with a unit."""
_PATH = r"[\x21-\x7e]"
HttpPath = Annotated[
    str,
    Field(pattern=rf"^/(?:{_PATH}|‹secret [^›]*›)*$"),
    WithJsonSchema({"type": "string", "pattern": f"^/{_PATH}*$"}),
]
"""A path with its query. In results, secrets in it are replaced
(:mod:`wirelab.experiment.secret_values`)."""


def time_default(text: str, about: str) -> Any:
    """A field of type :data:`Time`; the JSON Schema shows its default with the unit."""
    return Field(
        read_time(text),
        validate_default=False,
        json_schema_extra={"default": text},
        description=about,
    )


class Model(BaseModel):
    """Base class: unknown keys are rejected, values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

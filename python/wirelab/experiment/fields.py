"""Types of fields that experiment files share: models, sizes and times with their units."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from wirelab.errors import UnitError
from wirelab.format.units import DURATION_PATTERN, SIZE_PATTERN, parse_bytes, parse_seconds

Json = dict[str, Any]


def read_size(value: object) -> int:
    """Bytes of a size with its unit. Raises :class:`ValueError`."""
    try:
        return parse_bytes(value)
    except UnitError as error:
        raise ValueError(error.message) from None


def read_time(value: object) -> float:
    """Seconds of a time with its unit. Raises :class:`ValueError`."""
    try:
        return parse_seconds(value)
    except UnitError as error:
        raise ValueError(error.message) from None


Size = Annotated[
    int, BeforeValidator(read_size), WithJsonSchema({"type": "string", "pattern": SIZE_PATTERN})
]
"""Bytes, written with a unit."""
Time = Annotated[
    float,
    BeforeValidator(read_time),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]
"""Seconds, written with a unit."""


def time_default(text: str, about: str) -> Any:
    """A field of :data:`Time` whose default the JSON Schema writes with its unit, too."""
    return Field(
        read_time(text),
        validate_default=False,
        json_schema_extra={"default": text},
        description=about,
    )


class Model(BaseModel):
    """Base: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

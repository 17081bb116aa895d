"""Field types that experiment files share: models, and sizes and times with units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from wirelab.errors import UnitError
from wirelab.format.units import DURATION_PATTERN, SIZE_PATTERN, parse_bytes, parse_seconds

Json = dict[str, Any]


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


def read_header(value: object) -> str | tuple[str, ...]:
    """The value of a header, or the values of one that is repeated. Raises :class:`ValueError`."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise ValueError(f"write text, or a list of texts for a header that is repeated, not {value!r}")


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
HeaderValue = Annotated[
    str | tuple[str, ...],
    BeforeValidator(read_header),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]
"""Text, or a list of texts for a header that is repeated."""
Headers = dict[str, HeaderValue]
"""Headers or metadata by name."""
HttpMethod = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z-]{0,31}$")]
"""Case matters (RFC 9110, section 9.1)."""
_PATH = r"[\x21-\x7e]"
HttpPath = Annotated[
    str,
    Field(pattern=rf"^/(?:{_PATH}|‹secret [^›]*›)*$"),
    WithJsonSchema({"type": "string", "pattern": f"^/{_PATH}*$"}),
]
"""A path with its query. In results, secrets in it are replaced
(:mod:`wirelab.experiment.secret_values`)."""


def header_pairs(headers: Mapping[str, str | tuple[str, ...]]) -> list[list[str]]:
    """Name and value of each header that is sent."""
    return [
        [name, one]
        for name, value in headers.items()
        for one in ((value,) if isinstance(value, str) else value)
    ]


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

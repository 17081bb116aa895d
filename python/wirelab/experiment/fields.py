"""Field types that experiment files share: models, and sizes and times with units."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, cast, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from wirelab.errors import UnitError
from wirelab.format.units import (
    DURATION_PATTERN,
    SIZE_OF_CODEC_PATTERN,
    SIZE_PATTERN,
    parse_bytes,
    parse_seconds,
)

Json = dict[str, object]
SECONDS_MAX = 1e6
"""The longest time of the engine."""


def read_size(value: object) -> int:
    """Parses a size with its unit into bytes. Raises :class:`ValueError`."""
    try:
        return parse_bytes(value)
    except UnitError as error:
        raise ValueError(error.message) from None


def read_time(value: object) -> float:
    """Parses a time with its unit into seconds. Raises :class:`ValueError`."""
    try:
        seconds = parse_seconds(value)
    except UnitError as error:
        raise ValueError(error.message) from None
    if seconds > SECONDS_MAX:
        raise ValueError(f"{value} is longer than {SECONDS_MAX:,.0f} s, the longest time")
    return seconds


def read_time_above_zero(value: object) -> float:
    """The same for a time that must not be zero. Raises :class:`ValueError`."""
    seconds = read_time(value)
    if seconds == 0:
        raise ValueError(f"{value}: it must be longer than 0 s")
    return seconds


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
MessageSize = Annotated[
    int,
    BeforeValidator(read_size),
    WithJsonSchema({"type": "string", "pattern": SIZE_OF_CODEC_PATTERN}),
]
"""The same of a message, which may name the codec in which it has the size: ``2 kB of json``."""
Time = Annotated[
    float,
    BeforeValidator(read_time),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]
"""A time in seconds, written with a unit."""
TimeAboveZero = Annotated[
    float,
    BeforeValidator(read_time_above_zero),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN}),
]
"""The same, not zero."""
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


Authority = Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,300}$")]
"""Host with an optional port, as requests name it."""


def refuse_host(headers: Headers) -> Headers:
    """The headers. Raises :class:`ValueError` for ``Host``, which belongs to the service."""
    for name in headers:
        if name.lower() == "host":
            raise ValueError(f"write `host:` next to `url` or `command`, not the header {name}")
    return headers


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

    @field_validator("*", mode="before")
    @classmethod
    def _has_no_truth_value_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Python takes true for 1."""
        field = cls.model_fields[info.field_name] if info.field_name else None
        if field is not None and _are_numbers(cast("Hashable", field.annotation)):
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(one, bool):
                    raise ValueError(f"expected a number, got {str(one).lower()}")
        return value


@cache
def _are_numbers(annotation: Any) -> bool:
    """Whether values of a type are numbers, or lists of them, and never true or false."""
    kinds = set(_leaves(annotation))
    return bool(kinds & {int, float}) and not kinds & {bool, Any}


def _leaves(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is None:
        yield annotation
    for one in get_args(annotation)[: 1 if origin is Annotated else None]:
        yield from _leaves(one)

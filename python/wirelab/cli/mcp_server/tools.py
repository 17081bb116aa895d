"""The tools: their parameters with units and limits, as the client sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wirelab.cli.mcp_server.limits import Limits
from wirelab.cli.output.named_services import USERS
from wirelab.drive.amount import WINDOW_S
from wirelab.errors import UsageError
from wirelab.stack.link_names import LOOPBACK, ProfileName
from wirelab.stack.suggestions import did_you_mean

TIMEOUT_S_MAX = 60.0
PATH_CHARACTERS_MAX = 4_096
BODY_CHARACTERS_MAX = 1_000_000
HEADERS_MAX = 50
BYTES_MAX = 64 * 2**20

Service = Annotated[str, Field(min_length=1, max_length=2_048)]
Path = Annotated[str, Field(min_length=1, max_length=PATH_CHARACTERS_MAX)]
Count = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(ge=0.001)]
Seconds = Annotated[float, Field(ge=0.01)]
Size = Annotated[int, Field(ge=0, le=BYTES_MAX)]
Name = Annotated[str, Field(min_length=1, max_length=100)]

SERVICE = (
    "URL (http://host:port/path or grpc://host:port/package.Service/Method, also https and grpcs), "
    "or a stack that wirelab starts itself, such as rest@rust, grpc@rust or "
    "rest@rust?codec=protobuf&connection=close"
)


class Parameters(BaseModel):
    """Values are not converted: a number in quotes is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    LIMITED: ClassVar[Mapping[str, str]] = {}
    """Parameters with a limit of the server: its name in :class:`Limits`."""
    PATHS: ClassVar[tuple[str, ...]] = ()
    """Parameters that name files or folders."""

    def value(self, parameter: str) -> Any:
        """As given, or the default of the command; None if the parameter has no effect."""
        return getattr(self, parameter)


class DriveParameters(Parameters):
    """Of ``drive``."""

    target: Service = Field(description=SERVICE)
    users: Count | None = Field(
        None,
        description="users of a closed load, each of which waits for its reply; default: "
        "connections x in_flight",
    )
    rate: Rate | None = Field(
        None, description="calls per second of an open load, in place of users"
    )
    poisson: bool = Field(False, description="random (Poisson) arrivals at rate")
    duration_s: Seconds | None = Field(
        None, description=f"length of the measurement window, seconds; default: {WINDOW_S:g}"
    )
    calls: Count | None = Field(None, description="number of calls, in place of duration_s")
    warmup_s: float = Field(0.0, ge=0.0, description="time before the window, seconds; not counted")
    timeout_s: Seconds = Field(
        10.0, le=TIMEOUT_S_MAX, description="time limit for one call, seconds"
    )
    connections: Count | None = Field(None, description="persistent connections")
    in_flight: Count | None = Field(None, le=1_000, description="calls in flight per connection")
    close: bool = Field(False, description="open a new connection for each call")
    operation: Name | None = Field(
        None, description="operation of a service of wirelab; default: Hello"
    )
    size_bytes: Size | None = Field(
        None, description="message size of a service of wirelab, bytes; default: 14"
    )
    method: Name | None = Field(None, description="HTTP method for a URL; default: GET, or POST")
    headers: dict[str, str] = Field(
        default_factory=dict,
        max_length=HEADERS_MAX,
        description="HTTP headers or gRPC metadata for a URL",
    )
    body: str | None = Field(
        None,
        max_length=BODY_CHARACTERS_MAX,
        description="HTTP body as text, or gRPC request as JSON (the server needs reflection)",
    )

    LIMITED: ClassVar[Mapping[str, str]] = {
        "users": "users",
        "connections": "users",
        "rate": "rate",
        "duration_s": "duration_s",
        "warmup_s": "duration_s",
        "calls": "calls",
    }

    def value(self, parameter: str) -> Any:
        if parameter == "duration_s" and self.duration_s is None and self.calls is None:
            return WINDOW_S
        return super().value(parameter)

    def accept_product(self, limits: Limits) -> None:
        """Raises :class:`UsageError` for connections x in_flight, the default of users, above the
        limit of users."""
        if (self.connections or 1) * (self.in_flight or 1) > limits.users:
            raise UsageError(
                f"connections x in_flight is above {limits.users:,}, the limit of this server",
                "give less, or start the server with another --users",
            )


class CompareParameters(Parameters):
    """Of ``compare``."""

    a: Service = Field(description=f"service A: {SERVICE}")
    b: Service = Field(description="service B, in the same notation")
    figure: Name | None = Field(
        None,
        description="figure to compare: rate, response_p50, response_p99, service_cpu and others; "
        "default: rate, and response_p50 with a given rate",
    )
    threshold: float = Field(
        0.03,
        ge=0.0,
        le=1.0,
        description="equivalent if the interval of the ratio lies within this share of 1",
    )
    pairs_max: int = Field(
        20, ge=2, le=1_000, description="maximum number of trial pairs; it ends early if decided"
    )
    users: Count | None = Field(None, description=f"users of a closed load; default: {USERS}")
    rate: Rate | None = Field(None, description="calls per second (Poisson), in place of users")
    duration_s: Seconds = Field(2.0, description="length of one trial's window, seconds")
    operation: Name | None = Field(
        None, description="operation of services of wirelab; default: Hello"
    )
    size_bytes: Size | None = Field(None, description="message size, bytes; default: 14")
    link: ProfileName = Field(LOOPBACK, description="emulated link; others than loopback need root")
    directory: Path | None = Field(
        None,
        description="run directory below the server's folder; an unfinished run in it continues; "
        "default: a new one in runs/",
    )

    LIMITED: ClassVar[Mapping[str, str]] = {
        "users": "users",
        "rate": "rate",
        "duration_s": "duration_s",
    }
    PATHS: ClassVar[tuple[str, ...]] = ("directory",)

    def value(self, parameter: str) -> Any:
        if parameter == "users" and self.users is None and self.rate is None:
            return USERS
        return super().value(parameter)


class DissectParameters(Parameters):
    """Of ``dissect``."""

    source: Path = Field(
        description="capture (pcap, pcapng), or directory of a run that captured packets"
    )
    port: int | None = Field(None, ge=1, le=65_535, description="only connections of this TCP port")
    exchange: Count | None = Field(
        None, description="number of the exchange to show packet by packet, from 1"
    )

    PATHS: ClassVar[tuple[str, ...]] = ("source",)


class ReportParameters(Parameters):
    """Of ``report``."""

    directory: Path = Field(description="directory of a run or of a reproduction")

    PATHS: ClassVar[tuple[str, ...]] = ("directory",)


@dataclass(frozen=True)
class ToolSpec:
    """One tool."""

    parameters: type[Parameters]
    about: str
    changes_nothing: bool = False
    """It makes no load and writes no file, unless its result is cut."""


TOOLS: Mapping[str, ToolSpec] = {
    "drive": ToolSpec(
        DriveParameters,
        "Load one server for a few seconds and report rate, response times and errors, like "
        "`wirelab drive --json`. A closed load (users) and an open load (rate) answer different "
        "questions and are not to be compared.",
    ),
    "compare": ToolSpec(
        CompareParameters,
        "Measure two services in randomly ordered pairs until it is known whether B is better "
        "than, worse than or equivalent to A, like `wirelab compare --json`. Takes a minute or "
        "more. exit_code 0: better or equivalent; 1: worse, or pairs failed; 5: undecided.",
    ),
    "dissect": ToolSpec(
        DissectParameters,
        "Report where the time of a packet capture went, what its packets cost, and what is wrong "
        "with it, like `wirelab dissect --json`.",
        changes_nothing=True,
    ),
    "report": ToolSpec(
        ReportParameters,
        "Report the results of a finished or interrupted run and rewrite its report.html, like "
        "`wirelab report --json`.",
    ),
}


def spec(name: str) -> ToolSpec:
    """The tool with that name. Raises :class:`UsageError`."""
    if name not in TOOLS:
        raise UsageError(f"there is no tool {name[:100]!r}", did_you_mean(name[:100], TOOLS))
    return TOOLS[name]


def accept(name: str, given: Mapping[str, Any], limits: Limits) -> Parameters:
    """The parameters of a call. Raises :class:`UsageError` for what the schema or the limits of
    the server exclude; hosts are accepted later, because that may need the network."""
    try:
        parameters = spec(name).parameters.model_validate(dict(given))
    except ValidationError as error:
        problems = [_problem(name, one) for one in error.errors()[:5]]
        raise UsageError("\n".join(problems)) from None
    for parameter, limit in parameters.LIMITED.items():
        value, most = parameters.value(parameter), getattr(limits, limit)
        if value is not None and value > most:
            option = limit.removesuffix("_s")
            raise UsageError(
                f"{parameter} is above {most:,.15g}, the limit of this server",
                f"give less, or start the server with another --{option}",
            )
    if isinstance(parameters, DriveParameters):
        parameters.accept_product(limits)
    for parameter in parameters.PATHS:
        if (value := getattr(parameters, parameter)) is not None:
            limits.path(parameter, value)
    return parameters


def _problem(tool: str, error: Any) -> str:
    """What is wrong with a parameter, and what would be right."""
    place = ".".join(str(part)[:100] for part in error["loc"]) or "the arguments"
    if error["type"] == "extra_forbidden":
        known = TOOLS[tool].parameters.model_fields
        return f"{place}: {tool} has no such parameter. {did_you_mean(place, known)}"
    if error["type"] == "missing":
        about = TOOLS[tool].parameters.model_fields[place].description
        return f"{place}: this parameter is required: {about}"
    return f"{place}: {error['msg']}"


def input_schema(name: str, limits: Limits) -> dict[str, Any]:
    """The JSON Schema of the parameters, with the limits of the server."""
    parameters = TOOLS[name].parameters
    schema = parameters.model_json_schema()
    for parameter, limit in parameters.LIMITED.items():
        entry = schema["properties"][parameter]
        number = next((one for one in entry.get("anyOf", ()) if one["type"] != "null"), entry)
        number["maximum"] = getattr(limits, limit)
    return schema


def output_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of the structured result."""
    document: dict[str, Any] = {
        "description": f"what `wirelab {name} --json` prints; null if it does not fit even when cut"
    }
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "document": document,
            "exit_code": {"type": "integer", "description": "that of the command"},
            "cut": {
                "type": "array",
                "items": {"type": "string"},
                "description": "lists of the document that were cut to fit",
            },
            "whole": {
                "type": ["string", "null"],
                "description": "file with the whole document, if it was cut",
            },
        },
        "required": ["document", "exit_code", "cut", "whole"],
        "additionalProperties": False,
    }
    if name == "drive":
        import msgspec

        from wirelab.drive.summary import PrintedResult

        drive = msgspec.json.schema(PrintedResult)
        schema["$defs"] = drive["$defs"]
        document["anyOf"] = [{"$ref": drive["$ref"]}, {"type": "null"}]
    return schema

"""The experiments of `choose`: a first look at every stack, then repeats of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from wirelab.choose import samples
from wirelab.choose.candidates import Candidate
from wirelab.choose.samples import Sample
from wirelab.generate.project import Project

PROTO = "contract.proto"
"""Name of the .proto in the folder of the answer."""
AVRO_SCHEMA = "contract.avsc"
"""Name of the schema of Avro there."""
REPEATS_MAX = 40
"""Trials of each stack at most."""
CALLS_FOR_P99 = 1_100
DATA = "data"
"""Folder with the requests and replies of each codec."""


@dataclass(frozen=True)
class Conditions:
    """How the stacks are called."""

    users: int
    rate: float | None
    """Calls per second; None: a closed load alone."""
    link: str
    threshold: float
    seed: int


@dataclass(frozen=True)
class Depth:
    """How much is measured of one load."""

    load: Literal["closed", "paced"]
    window_s: float
    warmup_s: tuple[float, float]
    """Shortest and longest warm-up."""
    repeats: int
    warm_calls: int = 0
    """Calls before each trial of a service in :data:`COMPILED_LATE`."""


COMPILED_LATE = frozenset({"java"})
"""Languages whose code is compiled while it runs."""
SCREENING = Depth("closed", 1.0, (0.5, 2.0), 1, 8_000)
"""Enough to find the best: a factor of 1.2 shows."""
CLOSED = Depth("closed", 1.0, (1.0, 4.0), REPEATS_MAX, 24_000)
PACED_WINDOW_S = (2.0, 8.0)
"""Shortest and longest window at the user's rate."""


def plan_at_rate(rate: float) -> Depth:
    """At the user's rate: long enough for a p99, which needs 1,000 calls, where that is short."""
    shortest, longest = PACED_WINDOW_S
    window_s = min(longest, max(shortest, CALLS_FOR_P99 / rate))
    return Depth("paced", round(window_s, 1), (1.0, 4.0), REPEATS_MAX, CLOSED.warm_calls)


def experiment(
    name: str,
    about: str,
    sample: Sample,
    of: Mapping[Candidate, Project],
    conditions: Conditions,
    depth: Depth,
) -> str:
    """Text of the experiment file, for the folder of the answer."""
    load: dict[str, object] = {"closed": {"users": conditions.users}}
    if depth.load == "paced":
        load = {"constant": {"rate": conditions.rate, "in_flight_max": max(64, conditions.users)}}
    shortest, longest = depth.warmup_s
    document = {
        "name": name,
        "about": about,
        "services": [service(sample, one, project, depth) for one, project in of.items()],
        "loads": [load],
        "links": [conditions.link],
        "design": "auto",
        "window": {"duration": f"{depth.window_s:g} s"},
        "warmup": {"min": f"{shortest:g} s", "max": f"{longest:g} s"},
        "repeats": depth.repeats,
        "threshold": conditions.threshold,
        "seed": conditions.seed,
        "skip_illegal": True,
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def service(
    sample: Sample, candidate: Candidate, project: Project, depth: Depth
) -> dict[str, object]:
    """The entry of a stack in an experiment file."""
    made: dict[str, object] = {
        "name": candidate.name,
        "command": [*project.start, *arguments(sample, candidate)],
        "requests": requests_file(candidate).as_posix(),
        "ready": {"within": "60 s"},
    }
    if candidate.language in COMPILED_LATE and depth.warm_calls:
        made["warm_calls"] = depth.warm_calls
    packed = {"compression": candidate.compression} if candidate.compression != "none" else {}
    if candidate.binding == "grpc":
        made["grpc"] = {"method": sample.contract.grpc_path, "proto": PROTO, **packed}
    else:
        version = {"version": "2"} if candidate.transport == "http/2" else {}
        made["http"] = {
            "path": samples.path(candidate),
            "headers": samples.headers(sample, candidate),
            **version,
            **packed,
        }
    return made


def arguments(
    sample: Sample, candidate: Candidate, port: str = "{port}", host: str = "{host}"
) -> list[str]:
    """What a generated service is started with, in the folder of the answer."""
    from wirelab.contracts import rules

    chosen = {
        "binding": candidate.binding,
        "codec": candidate.codec,
        "transport": candidate.transport,
        "compression": candidate.compression,
        "host": host,
        "port": port,
        "reply": reply_file(candidate).as_posix(),
        "numbered": rules.choose_numbered(sample.contract, sample.reply).value,
    }
    return [word for name, value in chosen.items() for word in (f"--{name}", value)]


def reply_file(candidate: Candidate) -> Path:
    """The sample reply in its codec, in the folder of the answer."""
    return Path(DATA) / candidate.codec / "reply.bin"


def requests_file(candidate: Candidate) -> Path:
    """Its requests, in the folder of the answer."""
    return Path(DATA) / candidate.codec / f"{candidate.binding}.{candidate.language}.jsonl"


def finalists(
    ranked: Sequence[Candidate], keep: Sequence[Candidate], compressions: Sequence[str], count: int
) -> tuple[Candidate, ...]:
    """The best of a first look, at least one of each language, with each compression; and those to
    keep in any case."""
    of_language = {one.language: one for one in reversed(ranked)}
    first = sorted(of_language.values(), key=ranked.index)
    best = list(dict.fromkeys([*first, *ranked]))[: max(count, len(first))]
    packed = [one.compress_with(way) for one in best for way in compressions]
    return tuple(dict.fromkeys([*packed, *keep]))

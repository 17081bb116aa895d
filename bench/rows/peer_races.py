"""The rows of the bench: what is raced, and what is promised of it."""

from __future__ import annotations

from pathlib import Path

from bench.bounds import Bound
from bench.engine import Load
from bench.peers import grpc_peers, rest_peers
from bench.races import OURS, OURS_DECODE, Race
from bench.servers import GRPC_LARGE, GRPC_SMALL, REST_LARGE, REST_SMALL


def races(scratch: Path) -> list[Race]:
    """Every race; `scratch` takes the peers' body files."""
    return [_http(), *_grpc(scratch), *_large(scratch)]


def _http() -> Race:
    peers = rest_peers()
    return Race(
        "http",
        "HTTP/1.1 keep, 50 connections, 14 B text",
        REST_SMALL,
        Load(50),
        tuple(peers.values()),
        (
            Bound("cpu", OURS, ("wrk",), at_most=1.1),
            Bound("cpu", OURS_DECODE, ("wrk",)),
            Bound("rate", OURS, tuple(peers), at_least=1.0),
        ),
    )


def _grpc(scratch: Path) -> list[Race]:
    peers = grpc_peers(scratch / "empty.grpc")
    many = Race(
        "grpc",
        "gRPC unary, 10 connections x 10 in flight, 14 B text",
        GRPC_SMALL,
        Load(10, 10),
        tuple(peers.values()),
        (
            Bound("cpu", OURS, ("h2load",), at_most=1.15),
            Bound("cpu", OURS_DECODE, ("h2load",)),
            Bound("rate", OURS, ("h2load",)),
            Bound("rate", OURS, ("ghz",), at_least=3.0),
        ),
    )
    single = Race(
        "grpc1",
        "gRPC unary, 1 connection x 1 in flight, 14 B text",
        GRPC_SMALL,
        Load(1),
        tuple(peers.values()),
        (
            Bound("cpu", OURS, ("h2load",)),
            Bound("cpu", OURS_DECODE, ("h2load",)),
            Bound("rate", OURS, ("h2load",)),
            Bound("rate", OURS, ("ghz",)),
        ),
    )
    return [many, single]


def _large(scratch: Path) -> list[Race]:
    """3 MB replies. Both sides move the same bytes per call, so CPU per call is CPU per MB."""
    rest, grpc = rest_peers()["h2load --h1"], grpc_peers(scratch / "empty.grpc")["h2load"]
    return [
        Race(
            "large-http",
            "HTTP/1.1 keep, 10 connections, 3 MB text",
            REST_LARGE,
            Load(10),
            (rest,),
            _large_bounds(rest.name),
        ),
        Race(
            "large-grpc",
            "gRPC unary, 10 connections x 1 in flight, 3 MB text",
            GRPC_LARGE,
            Load(10),
            (grpc,),
            _large_bounds(grpc.name),
        ),
    ]


def _large_bounds(peer: str) -> tuple[Bound, ...]:
    return (
        Bound("cpu", OURS, (peer,), at_most=1.2),
        Bound("cpu", OURS_DECODE, (peer,)),
        Bound("rate", OURS, (peer,)),
    )

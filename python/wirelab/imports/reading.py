"""Reads a source by its kind."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.imports import source as sources
from wirelab.imports.operation import Imported


@dataclass(frozen=True)
class Allowed:
    """What the user allows beyond the default."""

    any_target: bool = False
    """Another machine as the source."""
    any_file: bool = False
    """Files that are sent from any folder."""


def read(
    kind: str, source: str, include: tuple[str, ...], only: str | None, allowed: Allowed
) -> Imported:
    """``kind`` is one of ``openapi``, ``grpc``, ``har``, ``postman``, ``curl``, ``jmeter`` and
    ``k6``; ``include`` are folders of imported files of Protobuf. ``only`` is a shell pattern: a
    document may be too large for all its operations. Raises :class:`UsageError`."""
    if kind == "grpc":
        from wirelab.imports import grpc

        return grpc.read(source, include, any_target=allowed.any_target)
    if kind == "curl":
        from wirelab.imports import curl

        return curl.read(source, any_file=allowed.any_file)
    text = sources.read(source, any_target=allowed.any_target)
    if kind == "openapi":
        from wirelab.imports import openapi

        return openapi.read(text, only)
    if kind == "har":
        from wirelab.imports import har

        return har.read(text, only)
    if kind == "jmeter":
        from wirelab.imports import jmeter

        return jmeter.read(text, only, any_file=allowed.any_file)
    if kind == "k6":
        from wirelab.imports import k6

        return k6.read(text, only)
    from wirelab.imports import postman

    return postman.read(text, only, any_file=allowed.any_file)

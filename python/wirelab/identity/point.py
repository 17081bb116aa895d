"""Selects the stacks that need a verification of their own.

Client behaviour, service delays and socket options do not change replies. Only the axes below do. A
stack is verified at its identity point.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.stack import axes as table
from wirelab.stack.manifests import Catalogue, Served
from wirelab.stack.reference import Stack

IDENTITY_AXES = (
    *("codec", "soap", "compression", "transport", "socket", "end_of_message", "flush", "security"),
    "http_cache",
    *("token_cache", "store", "repository", "fetch", "mapper", "validation", "parser"),
    # A proxy could change what is answered too: it is examined with the service behind it.
    *("via", "via_upstream", "via_buffering", "via_keepalive"),
)
"""Axes that could affect replies, besides binding and language. ``ws_security`` is not one of
them: the engine, which examines, neither signs nor encrypts, and every caller of such a stack
compares the replies itself."""


def identity_stack(stack: Stack) -> Stack:
    """The stack with all other axes at their default, or as close to it as is legal."""
    binding, language = stack.axes.binding, stack.axes.language
    named_axes = {
        name: value
        for name, value in stack.axes.texts.items()
        if name in IDENTITY_AXES and value != table.default(binding, name)
    }
    return _nearest(f"{binding}@{language}", named_axes)


def points(catalogue: Catalogue) -> Iterator[tuple[Stack, str]]:
    """Every identity point of the manifests, with each contract: at most one axis differs from the
    service's first codec, transport and so on, because these axes do not depend on each other."""
    for language, manifest in catalogue.by_language.items():
        for served in manifest.serves:
            service = f"{served.binding}@{language}"
            for changes in _one_axis_away(served):
                stack = _nearest(service, changes)
                for contract in served.contracts:
                    if manifest.refusal(stack, contract) is None:
                        yield stack, contract


def _one_axis_away(served: Served) -> Iterator[dict[str, str]]:
    offers = {
        "codec": served.codecs,
        "soap": served.soap,
        "compression": served.compression,
        "transport": served.transports,
        "socket": served.sockets,
        "end_of_message": served.end_of_message,
        "http_cache": served.http_cache,
        "flush": served.flushes,
        "security": served.security,
        "token_cache": served.token_cache,
        "store": served.stores,
        "repository": served.repositories,
        "fetch": served.fetches,
        "mapper": served.mappers,
        "validation": served.validations,
        "parser": served.parsers,
    }
    databases = [store for store in served.stores if store != "memory"]
    base = {"codec": served.codecs[0], "transport": served.transports[0]}
    if served.binding == "rest":
        # Codec text supports one operation; prefer codecs that can be examined completely.
        base["codec"] = min(served.codecs, key=lambda codec: codec == "text")
    seen: list[dict[str, str]] = [base]
    yield base
    for axis, values in offers.items():
        for value in values:
            changed = {**base, axis: value}
            if axis == "token_cache":
                changed["codec"] = "token-xml"
            if axis in ("repository", "fetch") and databases:
                # Prefer embedded stores, which need no server.
                changed["store"] = min(databases, key=lambda store: store in ("sqlite", "postgres"))
            default = table.default(served.binding, axis)
            if changed not in seen and changed.get(axis) != base.get(axis, default):
                seen.append(changed)
                yield changed


def _nearest(service: str, changes: dict[str, str]) -> Stack:
    """The stack with this value, and other axes repaired where they would become illegal."""
    return Stack.parse(Stack.parse(service).find_nearest(changes).reference)

"""The conditions under which two services of the user's own can be measured, as an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wirelab.errors import StackError
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.experiment.matrix import Cell
from wirelab.experiment.messages import Message
from wirelab.explain.conditions import Condition
from wirelab.stack.external import ExternalStack
from wirelab.stack.link_names import LOOPBACK

Called = Message | ExternalMessage

ROUND_TRIP_MS = 2
"""Of the link that stands for a network: more than loopback, less than most calls take."""
LINK = {"name": "round-trip-2ms", "both": {"delay_ms": ROUND_TRIP_MS / 2}}
PLAIN = ""
"""Id of the condition under which nothing is changed."""


@dataclass(frozen=True)
class Place:
    """Where one service is measured under one condition."""

    service: ExternalService
    axes: Mapping[str, str] = field(default_factory=dict)
    message: int = 0
    """Index into what the experiment calls, as the next two into its loads and links."""
    load: int = 0
    link: int = 0

    @property
    def stack(self) -> ExternalStack:
        """With the axes changed. Raises :class:`StackError` where they cannot be."""
        return self.service.stack.with_axes(self.axes)


@dataclass(frozen=True)
class Variant:
    """A condition, and both services under it."""

    condition: Condition
    a: Place
    b: Place


@dataclass(frozen=True)
class Design:
    """What is measured, and what cannot be changed, with the reason."""

    variants: tuple[Variant, ...]
    """The plain one first."""
    refused: tuple[str, ...]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Without the plain one."""
        return tuple(one.condition for one in self.variants[1:])

    def experiment(self, values: Mapping[str, Any], repeats: int) -> dict[str, Any]:
        """The experiment file ``values`` with every variant as a point of its matrix."""
        places = [place for one in self.variants for place in (one.a, one.b)]
        services = dict.fromkeys(place.service for place in places)
        links = [read_link(values)] + ([LINK] if any(p.link for p in places) else [])
        loads = list(values["loads"])
        loads += [{"closed": {"users": 1}}] if any(place.load for place in places) else []
        points = [
            {
                "stack": place.service.name,
                "axes": dict(place.axes),
                "message": place.message,
                "load": place.load,
                "link": place.link,
            }
            for place in places
        ]
        kept = {name: value for name, value in values.items() if name not in ("axes", "only")}
        return {
            **kept,
            "services": [describe_service(one) for one in services],
            "loads": loads,
            "links": links,
            "only": points,
            "repeats": repeats,
        }


def read_link(values: Mapping[str, Any]) -> Any:
    """The one link of an experiment file."""
    link = values.get("links", LOOPBACK)
    return link[0] if isinstance(link, list) else link


def describe_service(service: ExternalService) -> dict[str, Any]:
    """As an experiment file has it."""
    return service.model_dump(mode="json", exclude_unset=True)


def design(cells: Sequence[Cell], called: Sequence[Called], *, links: bool) -> Design:
    """Every condition for the two services of these cells. ``called``: what the experiment calls;
    ``links``: whether the lab can make a link here."""
    first, second = (_place(cell, called.index(cell.message)) for cell in cells)
    plain = Variant(Condition(PLAIN, "unchanged"), first, second)
    variants, refused = [plain], []
    for condition, changed in _all(plain, cells[0], links=links):
        if isinstance(changed, str):
            refused.append(f"{condition.label}: {changed}")
            continue
        variant = Variant(condition, *changed)
        reason = _illegal(variant)
        if reason:
            refused.append(f"{condition.label}: {reason}")
        else:
            variants.append(variant)
    return Design(tuple(variants), tuple(refused))


def _place(cell: Cell, message: int) -> Place:
    assert cell.external is not None  # asked for of such cells alone
    assert isinstance(cell.stack, ExternalStack)
    return Place(cell.external, cell.stack.changes, message)


Changed = tuple[Place, Place] | str
"""Both places under a condition, or why there is none."""


def _all(plain: Variant, cell: Cell, *, links: bool) -> Iterator[tuple[Condition, Changed]]:
    places = (plain.a, plain.b)
    yield Condition("connection", "a connection per call"), _axes(places, "connection", "close")
    yield (
        Condition("writes", "head and body of a request in two writes"),
        _axes(places, "client.writes", "split"),
    )
    yield (
        Condition("quickack", "a client that acknowledges at once"),
        _axes(places, "client.quickack", "on"),
    )
    yield Condition("http-2", "HTTP/2 for both"), _http_2(places)
    yield Condition("gzip", "replies compressed by gzip"), _gzip(places)
    load = cell.load.point()
    alone: Changed = (replace(plain.a, load=1), replace(plain.b, load=1))
    if load.is_closed and load.users == 1:
        alone = "the load already has one user"
    yield Condition("one-call", "one call at a time"), alone
    yield Condition("link", f"a round trip of {ROUND_TRIP_MS} ms"), _link(plain, cell, links=links)
    secure = [place.service.is_secure for place in places]
    why = "both have it" if all(secure) else "it depends on the server: name its https:// address"
    yield Condition("tls", "TLS"), why
    yield (
        Condition("size", "another message size"),
        "repeat the command with another request",
    )


def _axes(places: tuple[Place, Place], axis: str, value: str) -> Changed:
    if all(place.stack.value(axis) == value for place in places):
        return "both services already have it"
    first, second = (replace(place, axes={**place.axes, axis: value}) for place in places)
    return first, second


def _http_2(places: tuple[Place, Place]) -> Changed:
    changed = [
        replace(place, service=_http(place.service, "http2", version="2"))
        if place.service.stack.axes.transport != "http/2"
        else place
        for place in places
    ]
    if tuple(changed) == places:
        return "both already use it"
    return changed[0], changed[1]


def _gzip(places: tuple[Place, Place]) -> Changed:
    if any(place.service.kind != "http" for place in places):
        return "gRPC calls to services of your own do not request compression"
    changed = []
    for place in places:
        http = place.service.http
        headers = dict(http.headers) if http else {}
        if any(name.lower() == "accept-encoding" for name in headers):
            return "a service already sets accept-encoding"
        headers["accept-encoding"] = "gzip"
        changed.append(replace(place, service=_http(place.service, "gzip", headers=headers)))
    return changed[0], changed[1]


def _http(service: ExternalService, suffix: str, **keys: Any) -> ExternalService:
    """The same service asked in another way, under a name of its own."""
    written = describe_service(service)
    request = {**written.get("http", {}), **keys}
    name = _append_suffix(service.name, suffix)
    return ExternalService.model_validate({**written, "name": name, "http": request})


def _append_suffix(name: str, suffix: str) -> str:
    """A name of the same kind: of a URL the address with a mark behind it."""
    return f"{name}#{suffix}" if "://" in name else f"{name[: 63 - len(suffix)]}-{suffix}"


def _link(plain: Variant, cell: Cell, *, links: bool) -> Changed:
    if cell.link != LOOPBACK:
        return "the load already uses a link"
    if plain.a.service.url is not None or plain.b.service.url is not None:
        return "a server that already runs is not in the link's namespace: give its command"
    if not links:
        return "links need root"
    for place in (plain.a, plain.b):
        written = [*(place.service.command or ()), *place.service.env.values()]
        if not any("{host}" in word for word in written):
            name = place.service.name
            return f"{name} has no {{host}} to listen on, so a link may not reach it"
    return replace(plain.a, link=1), replace(plain.b, link=1)


def _illegal(variant: Variant) -> str:
    try:
        for place in (variant.a, variant.b):
            _ = place.stack
    except StackError as error:
        return error.message
    return ""

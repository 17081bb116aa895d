"""A stack: one point in the axis table, written as a reference.

``rest@go?codec=text&connection=close`` names the binding, the language of the
service, and the axes that differ from the binding's defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from wirelab.documents.axes import Axes
from wirelab.errors import StackError
from wirelab.stack import axes as table
from wirelab.stack import rules as legality
from wirelab.stack.axes import AxisMap
from wirelab.stack.suggestions import did_you_mean

LOGIN = MappingProxyType({"username": "wirelab", "password": "wirelab"})
"""Of services that ask for a UsernameToken. They listen at loopback or on a link of the lab, so the
password protects nothing."""


@dataclass(frozen=True)
class Stack:
    """A legal stack with all axes. Two stacks are equal if their references are."""

    reference: str
    """Canonical form: without defaults, axes in the order of the table."""

    @classmethod
    def parse(cls, text: str) -> Stack:
        """Parses a reference. Raises :class:`StackError`; for an illegal combination with the
        reason and the nearest legal stack."""
        return _legal(text)

    @classmethod
    def of(cls, axes: Mapping[str, str]) -> Stack:
        """The stack with these values of every axis, ``binding`` and ``language`` included.
        Raises as :meth:`parse`."""
        return _legal(_reference(axes))

    @cached_property
    def axes(self) -> Axes:
        """The value of every axis."""
        return Axes.of(self._texts)

    @cached_property
    def _texts(self) -> AxisMap:
        """Every axis with its value, ``binding`` and ``language`` first."""
        return MappingProxyType(_parse(self.reference))

    @property
    def served(self) -> Axes:
        """The axes as the service sees them: behind a proxy, the version of HTTP is the one that
        the proxy speaks to it."""
        upstream = self.axes.via_upstream
        return self.axes if upstream == "same" else Axes.of({**self._texts, "transport": upstream})

    def value(self, axis: str) -> str:
        """The value of an axis whose name is data, e.g. of a finding's test, as in references. Code
        that knows the axis uses :attr:`axes`."""
        return self._texts[axis]

    def list_differing_axes(self, other: Stack) -> tuple[str, ...]:
        """The axes in which both differ, in the order of references, then binding and language."""
        names = (*table.BY_NAME, "binding", "language")
        return tuple(name for name in names if self.value(name) != other.value(name))

    def fits(self, service: str) -> bool:
        """Whether it is that ``binding@language``, with the axes that are named after it."""
        name, _, query = service.partition("?")
        named = [part.partition("=") for part in filter(None, query.split("&"))]
        same = name == f"{self.axes.binding}@{self.axes.language}"
        return same and all(self._texts.get(axis) == value for axis, _, value in named)

    def with_axes(self, changes: Mapping[str, str]) -> Stack:
        """The stack with these axes changed. Raises :class:`StackError` if it is illegal."""
        if not changes:
            return self
        axes = dict(self._texts)
        for name, value in changes.items():
            axes[name] = _canonical(name, value)
        return Stack.parse(_reference(axes))

    def find_nearest(self, changes: Mapping[str, str]) -> Stack:
        """The nearest legal stack with these axes changed."""
        return Stack(_reference(legality.nearest({**self._texts, **changes})))

    def engine_stack(self) -> dict[str, str]:
        """The object ``stack`` of a group in the engine's plan: axes that differ from the binding's
        defaults."""
        return {"binding": self.axes.binding, **_list_changed_axes(self._texts)}

    def service_stack(self) -> dict[str, object]:
        """The object ``stack`` of a service's configuration (docs/reference/process.md)."""
        axes = self.served
        own = ("binding", "codec", "compression", "transport", "security")
        stack: dict[str, object] = {name: axes.texts[name] for name in own}
        for name, belongs in (
            ("soap", axes.binding == "soap"),
            ("reply", axes.binding == "raw"),
            ("token_cache", axes.codec == "token-xml"),
            ("end_of_message", axes.end_of_message != "content-length"),
            ("http_cache", axes.http_cache != "none"),
            ("flush", axes.flush != "item"),
            ("parser", axes.parser != "default"),
            ("ws_security", self.has_keys),
        ):
            if belongs:
                stack[name] = axes.texts[name]
        if axes.close_delay_ms:
            stack["close_delay_ms"] = axes.close_delay_ms
        return stack

    def login(self) -> dict[str, str]:
        """Name and password that the service asks for and callers send, as keys of ``store`` and of
        a group in the engine's plan; empty if it asks for none."""
        return dict(LOGIN) if self.axes.ws_security == "username-token" else {}

    @property
    def has_keys(self) -> bool:
        """Whether its messages are signed or encrypted, for which both ends need keys."""
        return self.axes.ws_security not in ("none", "username-token")

    def service_socket(self) -> dict[str, object]:
        """The object ``socket`` of a service's configuration."""
        server = self.axes.server
        return {
            "nagle": server.nagle,
            "writes": server.writes,
            "quickack": None,
            "tcp_window": server.tcp_window,
            "h2_window": server.h2_window,
        }

    def service_options(self) -> dict[str, str]:
        """The object ``options`` of a service's configuration: only values that differ from the
        defaults, because only petclinic services accept them."""
        return {
            name: self.value(name)
            for name in ("repository", "fetch", "mapper", "validation")
            if self.value(name) != table.BY_NAME[name].default
        }

    def __str__(self) -> str:
        return self.reference


@lru_cache(maxsize=4096)
def _legal(text: str) -> Stack:
    """Cached: a matrix has few stacks, and each occurs in every cell."""
    axes = _parse(text)
    broken = legality.first_broken(axes)
    if broken is not None:
        raise StackError(
            f"{text!r} cannot exist: {broken.reason}",
            f"the nearest legal stack is {_reference(legality.nearest(axes))}",
        )
    return Stack(_reference(axes))


def _parse(text: str) -> dict[str, str]:
    service, _, query = text.strip().partition("?")
    binding, at, language = service.partition("@")
    if not at or not language:
        raise StackError(f"{text!r} names no language", "write for example rest@go or grpc@rust")
    if binding not in table.BINDINGS:
        raise StackError(
            f"{text!r}: there is no binding {binding!r}", did_you_mean(binding, table.BINDINGS)
        )
    axes = {"binding": binding, "language": language}
    named = _parse_axes(text, query)
    for axis in table.TABLE:
        axes[axis.name] = named.get(axis.name, table.default(binding, axis.name))
    return axes


def _parse_axes(text: str, query: str) -> dict[str, str]:
    named: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        if not equals:
            raise StackError(f"{text!r}: {part!r} has no value", "write axis=value")
        if name in named:
            raise StackError(f"{text!r} has axis {name!r} twice", "remove one of them")
        named[name] = _canonical(name, value)
    return named


def _canonical(name: str, value: str) -> str:
    if name == "language":
        return value
    if name == "binding":
        raise StackError("axis 'binding' cannot be changed alone", "use another service")
    return table.axis(name).canonical(value)


def _reference(axes: Mapping[str, str]) -> str:
    service = f"{axes['binding']}@{axes['language']}"
    named = [f"{name}={value}" for name, value in _list_changed_axes(axes).items()]
    return f"{service}?{'&'.join(named)}" if named else service


def _list_changed_axes(axes: Mapping[str, str]) -> dict[str, str]:
    """The axes that differ from the binding's defaults, in the order of the table."""
    binding = axes["binding"]
    return {
        axis.name: axes[axis.name]
        for axis in table.TABLE
        if axes[axis.name] != table.default(binding, axis.name)
    }

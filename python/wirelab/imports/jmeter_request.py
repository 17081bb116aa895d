"""The request of an HTTP sampler of JMeter, with what its surroundings set for it
(https://jmeter.apache.org/usermanual/component_reference.html#HTTP_Request)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from urllib.parse import quote, quote_plus, unquote_plus

from wirelab.imports import multipart
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.http_request import FORM, NotImportable, Pairs, Recorded, read_content
from wirelab.imports.jmeter_rows import Rows
from wirelab.imports.jmeter_values import Values
from wirelab.imports.jmx_tree import Element
from wirelab.stack.targets import VISIBLE

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
IN_QUERY = ("GET", "DELETE", "OPTIONS")
"""Methods whose parameters are part of the query."""
IN_CONTENT = ("POST", "PUT", "PATCH", "DELETE")
"""Methods whose parameters are a form; those of DELETE are both."""
CHARSET = "; charset=UTF-8"
TEXT = f"text/plain{CHARSET}"
_PLACEHOLDER = re.compile(r"(\$\{[^{}]*\})")
_DEFAULTS = ("domain", "port", "protocol", "path", "contentEncoding", "proxyHost")
"""Properties that HTTP Request Defaults set, without their prefix."""


@dataclass(frozen=True)
class Surroundings:
    """What the elements around a sampler set for it: those nearer to it replace the others."""

    defaults: dict[str, str] = field(default_factory=dict)
    arguments: tuple[Element, ...] = ()
    """Parameters that defaults add to each request."""
    headers: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Name and value by the name in lower case."""
    pause_s: float = 0.0
    """Sum of the timers that apply."""
    rows: Rows | None = None

    def with_defaults(self, element: Element) -> Surroundings:
        """HTTP Request Defaults."""
        given = {name: element.text(f"HTTPSampler.{name}") for name in _DEFAULTS}
        defaults = self.defaults | {name: text for name, text in given.items() if text}
        own = element.list_items("HTTPsampler.Arguments", "Arguments.arguments")
        return replace(self, defaults=defaults, arguments=(*self.arguments, *own))

    def with_headers(self, element: Element) -> Surroundings:
        """A header manager."""
        headers = dict(self.headers)
        for one in element.list_items("HeaderManager.headers"):
            name = one.text("Header.name")
            headers[name.lower()] = (name, one.properties.get("Header.value", ""))
        return replace(self, headers=headers)


@dataclass(frozen=True)
class Sampler:
    """An HTTP sampler."""

    element: Element
    around: Surroundings
    values: Values
    files: ContentFiles

    def read_request(self) -> Recorded:
        """Its request. Raises :class:`NotImportable`."""
        element = self.element
        method = self.values.fill(element.text("HTTPSampler.method", "GET")).upper() or "GET"
        if method not in METHODS:
            raise NotImportable(f"the method {method[:32]!r} is none of {', '.join(METHODS)}")
        if self._text("proxyHost"):
            raise NotImportable("the request would go through a proxy")
        recorded = Recorded(method, "", name=element.name, is_exact=True)
        if self.around.rows is not None:
            recorded.variables = self.around.rows.columns
        self._add_notes(recorded)
        recorded.headers = self._headers()
        recorded.url = self._url(method)
        self._add_content(recorded)
        return recorded

    def _text(self, name: str) -> str:
        """A property of its own, or of the defaults."""
        own = self.element.text(f"HTTPSampler.{name}")
        return self.values.fill(own or self.around.defaults.get(name, "")).strip()

    def _add_notes(self, recorded: Recorded) -> None:
        is_set = self.element.is_set
        if is_set("HTTPSampler.image_parser"):
            recorded.notes.append("without the resources that the reply embeds")
        if not is_set("HTTPSampler.use_keepalive", default=True):
            recorded.notes.append("JMeter closes its connection: axes: {connection: [close]}")

    def _headers(self) -> Pairs:
        listed = self.around.headers.values()
        return [(self.values.fill(name), self.values.fill(value)) for name, value in listed]

    def _url(self, method: str) -> str:
        path = self._text("path")
        if re.match(r"https?://", path):
            return quote(path, safe=VISIBLE)
        host, port = self._text("domain"), self._text("port")
        if not host:
            raise NotImportable("it names no server, and neither do HTTP Request Defaults")
        if ":" in host and not host.startswith("["):
            host = f"[{host}]"
        query = self._query() if method in IN_QUERY and not self._is_raw else ""
        mark = ("&" if "?" in path else "?") if query else ""
        protocol = (self._text("protocol") or "http").lower()
        place = f"{protocol}://{host}{f':{port}' if port else ''}"
        return quote(f"{place}{'' if path[:1] == '/' else '/'}{path}{mark}{query}", safe=VISIBLE)

    @property
    def _arguments(self) -> list[Element]:
        own = self.element.list_items("HTTPsampler.Arguments", "Arguments.arguments")
        named = {one.text("Argument.name") for one in own}
        added = [one for one in self.around.arguments if one.text("Argument.name") not in named]
        return [*own, *added]

    @property
    def _is_raw(self) -> bool:
        """Whether the values of its arguments are the content: none of them has a name."""
        is_raw = self.element.is_set("HTTPSampler.postBodyRaw")
        return is_raw or not any(one.text("Argument.name") for one in self._arguments)

    def _query(self) -> str:
        named = [one for one in self._arguments if one.text("Argument.name")]
        return "&".join(map(self._pair, named))

    def _pair(self, argument: Element) -> str:
        """A parameter of the query."""
        is_encoded = argument.is_set("HTTPArgument.always_encode")
        encode: Callable[[str], str] = _encode if is_encoded else str
        name = encode(self.values.fill(argument.text("Argument.name")))
        value = encode(self.values.fill(argument.properties.get("Argument.value", "")))
        return f"{name}{argument.text('Argument.metadata')}{value}"

    def _field(self, argument: Element) -> str:
        """A parameter of a form, which is always encoded; one that is not to be is decoded
        before."""
        texts = (argument.text("Argument.name"), argument.properties.get("Argument.value", ""))
        name, value = map(self.values.fill, texts)
        if not argument.is_set("HTTPArgument.always_encode"):
            name, value = unquote_plus(name), unquote_plus(value)
        return f"{_encode(name)}={_encode(value)}"

    def _add_content(self, recorded: Recorded) -> None:
        files = self.element.list_items("HTTPsampler.Files", "HTTPFileArgs.files")
        named = [one for one in files if one.text("File.path")]
        kind = ""
        if recorded.method in ("GET", "HEAD") and named:
            raise NotImportable(f"it sends a file with {recorded.method}")
        if len(named) == 1 and not named[0].text("File.paramname"):
            recorded.body = self._content(named[0])
            kind = self.values.fill(named[0].text("File.mimetype"))
        elif named or self.element.is_set("HTTPSampler.DO_MULTIPART_POST"):
            kind = self._add_form(recorded, named)
        elif self._is_raw:
            values = [one.properties.get("Argument.value", "") for one in self._arguments]
            recorded.body = "".join(map(self.values.fill, values))
            kind = TEXT if recorded.body else ""
        elif recorded.method == "HEAD":
            raise NotImportable("it has parameters of HEAD")
        elif recorded.method in IN_CONTENT:
            fields = [one for one in self._arguments if one.text("Argument.name")]
            recorded.body = "&".join(map(self._field, fields))
        if not kind and not named and recorded.method in IN_CONTENT:
            kind = f"{FORM}{CHARSET}"  # also of no content
        if kind and recorded.declare(kind) and kind == TEXT:
            recorded.notes.append("no header names the type of its content: text/plain")
        self._note_values(recorded)

    def _note_values(self, recorded: Recorded) -> None:
        """Where values of rows are written in another way than by JMeter."""
        rows, body = self.around.rows, recorded.body
        if rows is None or not isinstance(body, str):
            return
        if any(
            name.lower() == "content-type" and FORM in v.lower() for name, v in recorded.headers
        ):
            unsafe = sorted(name for name in rows.unsafe if f"${{{name}}}" in body)
            if unsafe:
                recorded.notes.append(
                    f"values of {', '.join(unsafe)} are not encoded for the form: JMeter does it"
                )
        elif body.lstrip()[:1] in ("{", "[") and any(f'"${{{n}}}"' in body for n in rows.columns):
            recorded.notes.append(
                "a text that is only ${column} is sent as a number where the row has one; JMeter "
                "sends text"
            )

    def _add_form(self, recorded: Recorded, files: list[Element]) -> str:
        """Adds fields and files; returns the content type."""
        parts = [
            multipart.Part(
                self.values.fill(one.text("Argument.name")),
                self.values.fill(one.properties.get("Argument.value", "")).encode(),
                content_type=TEXT,
                headers=("Content-Transfer-Encoding: 8bit",),
            )
            for one in self._arguments
            if one.text("Argument.name")
        ]
        for one in files:
            name = PurePath(self.values.fill(one.text("File.path"))).name
            kind = self.values.fill(one.text("File.mimetype"))
            field_name = self.values.fill(one.text("File.paramname"))
            encoding = ("Content-Transfer-Encoding: binary",)
            parts.append(multipart.Part(field_name, self._content(one), name, kind, encoding))
        if not parts:
            return ""
        cleaned = multipart.replace_secrets(parts, recorded.secrets)
        kind, recorded.body = multipart.encode(cleaned)
        return f"{kind}{CHARSET}"

    def _content(self, file: Element) -> bytes:
        path = self.values.fill(file.text("File.path"))
        if "${" in path:
            raise NotImportable("its file is another one for each row")
        return read_content(self.files, path)


def _encode(text: str) -> str:
    """As in a form; ``${column}`` stays."""
    parts = _PLACEHOLDER.split(text)
    return "".join(part if n % 2 else quote_plus(part) for n, part in enumerate(parts))

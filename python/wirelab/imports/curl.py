"""A command of curl (https://curl.se/docs/manpage.html), as people write it and browsers copy it.

:mod:`shell` splits the words, :mod:`curl_options` reads the options, and this module makes the
requests that curl would send.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wirelab.errors import UsageError
from wirelab.imports import curl_form, curl_url, multipart, shell
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.budget import Budget
from wirelab.imports.curl_options import Given, groups
from wirelab.imports.http_request import FORM, NotImportable, Pairs, Recorded
from wirelab.imports.operation import Imported, Operation

EXPECT_BYTES = 1024 * 1024
"""From this size on curl asks with ``Expect: 100-continue`` first."""
_AGENT = "curl's own User-Agent is not sent: name one with -A"
_NOTED = {
    "compressed": "without Accept-Encoding (--compressed): compression is an axis",
    "http1.0": "sent in HTTP/1.1, not in HTTP/1.0",
    "tr-encoding": "without TE (--tr-encoding): the engine writes it",
    **dict.fromkeys(("netrc", "netrc-optional", "netrc-file"), "without credentials of .netrc"),
    **dict.fromkeys(
        ("anyauth", "digest", "negotiate", "ntlm", "ntlm-wb"),
        "without the handshake of its authentication",
    ),
}
"""Options that change the request in a way that is not imported."""
_CONFLICT = "curl sends one kind of content: data, a form, an upload, or none with --head"


def read(command: str, *, any_file: bool = False) -> Imported:
    """Its requests. Raises :class:`UsageError`."""
    parsed = shell.split(command)
    words = _remove_assignments(parsed)
    files = ContentFiles(Path(), any_file)
    requests = [_Request.of(given, parsed, files) for given in groups(words)]
    budget = Budget("the curl command")
    operations: list[Operation] = []
    for recorded in (one for request in requests for one in request.list_requests()):
        try:
            operations.append(recorded.operation())
        except NotImportable as reason:
            raise UsageError(f"this curl command cannot be imported: {reason}", "") from None
        budget.take_message(operations[-1])
    if not operations:
        raise UsageError("the curl command has no URL", "name one")
    title = urlsplit(operations[0].origin).hostname or "curl"
    return Imported(title, "a curl command", tuple(operations), (), _service(requests))


def _remove_assignments(parsed: shell.Command) -> list[str]:
    """What follows ``curl``."""
    words = list(parsed.words)
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        parsed.ignore(words.pop(0).partition("=")[0] + "=…")
    program = re.split(r"[/\\]", words[0])[-1].lower() if words else ""
    if program not in ("curl", "curl.exe"):
        raise UsageError("the command does not begin with curl", "write 'curl http://…'")
    return words[1:]


def _service(requests: list[_Request]) -> dict[str, Any]:
    """Keys of the service that all requests share."""
    service: dict[str, Any] = {}
    if any(one.is_http2 for one in requests):
        service["http"] = {"version": "2"}
    return service


@dataclass
class _Request:
    """The options of one request."""

    command: shell.Command
    files: ContentFiles
    urls: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    """Options with one value; the last counts."""
    flags: dict[str, bool] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)
    data: list[tuple[str, str]] = field(default_factory=list)
    """Pieces of content with their option, in order."""
    form: list[tuple[str, str]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, given: list[Given], command: shell.Command, files: ContentFiles) -> _Request:
        """Raises :class:`UsageError`."""
        request = cls(command, files)
        for one in given:
            request._take(one)
        return request

    def _take(self, given: Given) -> None:
        lists: dict[str, Callable[[str], None]] = {
            "url": self.urls.append,
            "header": self.headers.append,
            "url-query": self.queries.append,
            "cookie": self.cookies.append,
        }
        if given.name in lists:
            lists[given.name](given.value)
        elif given.name.startswith("data") or given.name == "json":
            self.data.append((given.name, given.value))
        elif given.name in ("form", "form-string"):
            self.form.append((given.name, given.value))
        elif given.value:
            self.values[given.name] = given.value
        else:
            self.flags[given.name] = given.is_on
            self.values[given.name] = ""

    @property
    def is_http2(self) -> bool:
        """Whether it is sent in HTTP/2."""
        return self._has("http2") or self._has("http2-prior-knowledge")

    def _has(self, flag: str) -> bool:
        return self.flags.get(flag, False)

    def list_requests(self) -> Iterator[Recorded]:
        """A request for each URL. Raises :class:`UsageError`."""
        for refused, why in (("connect-to", "resolve"), ("resolve", "resolve"), ("crlf", "crlf")):
            if refused in self.values or self._has(refused):
                raise UsageError(f"curl --{refused}: {_REFUSED[why]}", "leave it out")
        for pattern in self.urls:
            for url in [pattern] if self._has("globoff") else self._expand(pattern):
                yield self._of_url(url)

    def _expand(self, pattern: str) -> list[str]:
        return curl_url.expand(pattern, self.command.variables)

    def _of_url(self, written: str) -> Recorded:
        if re.search(r"[\x00-\x20\x7f]", written):
            raise UsageError(f"{written!r} has a space, which curl refuses", "write %20")
        url = curl_url.complete(written, self.values.get("proto-default", "http"))
        if not self._has("path-as-is"):
            url = curl_url.remove_dots(url)
        recorded = Recorded("GET", self._with_target(url), is_exact=True)
        recorded.variables = frozenset(self.command.variables)
        recorded.notes += [*self.command.notes, *self._notes()]
        self._add_content(recorded)
        recorded.headers = [*self._own_headers(recorded), *recorded.headers]
        if self.is_http2:  # RFC 9113, section 8.2
            recorded.headers = [(name.lower(), value) for name, value in recorded.headers]
        if "user" in self.values or "oauth2-bearer" in self.values:
            recorded.secrets.append("header authorization")
        is_large = recorded.body is not None and len(recorded.body) > EXPECT_BYTES
        if is_large or "upload-file" in self.values:
            recorded.notes.append("without Expect: 100-continue, which curl sends first")
        return recorded

    def _notes(self) -> Iterator[str]:
        yield from (note for flag, note in _NOTED.items() if self._has(flag))
        yield from (note for name, note in _NOTED.items() if self.values.get(name))
        for cookie in self.cookies:
            if "=" not in cookie and cookie:
                yield f"without the cookies of the file {cookie}"

    def _with_target(self, url: str) -> str:
        for query in self.queries:
            added = query[1:] if query.startswith("+") else self._encode(query)
            url = curl_url.with_query(url, added)
        if self._has("get") and self.data:
            url = curl_url.with_query(url, self._join_data().decode(*shell.ENCODING))
        target = self.values.get("request-target")
        if target is None:
            return url
        if not target.startswith("/"):
            raise UsageError(f"curl --request-target {target}: it is not a path", "leave it out")
        return f"{curl_url.parts(url)[0]}{target}"

    def _own_headers(self, recorded: Recorded) -> Pairs:
        """Those of options, and those that curl adds, where no header replaces them."""
        given, removed = self._parse_headers()
        referer = self.values.get("referer", "").removesuffix(";auto")
        agent = self.values.get("user-agent")
        span = self.values.get("range")
        if span and recorded.method not in ("GET", "HEAD"):
            raise UsageError("curl --range: it belongs to a GET", "leave it out")
        cookies = "; ".join(one for one in self.cookies if "=" in one)
        of_options = [
            *([("user-agent", agent)] if agent else []),
            ("accept", "application/json" if self._is_json else "*/*"),
            *([("referer", referer)] if referer else []),
            *([("cookie", cookies)] if cookies else []),
            *([("range", f"bytes={span}")] if span else []),
        ]
        names = {name.lower() for name, _ in given} | removed
        if agent is None and "user-agent" not in names:
            recorded.notes.append(_AGENT)
        recorded.headers = [pair for pair in recorded.headers if pair[0].lower() not in names]
        return [*(pair for pair in of_options if pair[0].lower() not in names), *given]

    def _parse_headers(self) -> tuple[Pairs, set[str]]:
        """Of ``--header``; and the names of headers that are not sent (``Name:``)."""
        given: Pairs = []
        removed: set[str] = set()
        for line in self._header_lines():
            name, colon, value = line.partition(":")
            if colon and value.strip():
                given.append((name, value.strip()))
            elif colon:
                removed.add(name.strip().lower())
            elif line.rstrip().endswith(";"):
                given.append((line.rstrip()[:-1], ""))
        return given, removed

    def _header_lines(self) -> Iterator[str]:
        for header in self.headers:
            if header.startswith("@"):
                content = self._file(header[1:]).decode(*shell.ENCODING)
                yield from filter(None, content.splitlines())
            else:
                yield header

    @property
    def _is_json(self) -> bool:
        return any(kind == "json" for kind, _ in self.data)

    def _add_content(self, recorded: Recorded) -> None:
        """Method and content."""
        has_data = bool(self.data) and not self._has("get")
        upload = self.values.get("upload-file")
        kinds = [has_data, bool(self.form), bool(upload), self._has("head")]
        if sum(kinds) > 1:
            raise UsageError(f"the curl command cannot be run: {_CONFLICT}", "choose one")
        if self._has("head"):
            recorded.method = "HEAD"
        elif upload:
            self._upload(recorded, upload)
        elif self.form:
            recorded.method = "POST"
            self._add_form(recorded)
        elif has_data:
            recorded.method = "POST"
            self._add_data(recorded)
        recorded.method = self.values.get("request", recorded.method)

    def _upload(self, recorded: Recorded, upload: str) -> None:
        recorded.method = "PUT"
        if upload in ("-", "."):
            raise UsageError("curl --upload-file: it reads standard input", "name a file")
        self._file(upload)
        recorded.body_file = upload
        origin, path, query = curl_url.parts(recorded.url)
        if path.endswith("/"):
            name = curl_url.encode(Path(upload).name.encode(*shell.ENCODING))
            recorded.url = f"{origin}{path}{name}{query}"

    def _add_form(self, recorded: Recorded) -> None:
        escapes = self._has("form-escape")
        parts = [
            curl_form.part(text, self.files, has_backslashes=escapes)
            if kind == "form"
            else curl_form.text_part(text, has_backslashes=escapes)
            for kind, text in self.form
        ]
        given = next((v for k, v in self._parse_headers()[0] if k.lower() == "content-type"), "")
        cleaned = multipart.replace_secrets(parts, recorded.secrets)
        kind, recorded.body = multipart.encode(cleaned, given or multipart.KIND)
        recorded.headers.append(("content-type", kind))
        if given:
            self.headers = [h for h in self.headers if not h.lower().startswith("content-type:")]

    def _add_data(self, recorded: Recorded) -> None:
        recorded.body = self._join_data()
        if len(self.data) == 1 and self._is_whole_file(*self.data[0], recorded.body):
            recorded.body_file = self.data[0][1][1:]
        kind = "application/json" if self._is_json else FORM
        recorded.headers.append(("content-type", kind))

    @staticmethod
    def _is_whole_file(kind: str, value: str, body: bytes | str) -> bool:
        """Whether a file is sent as it is, so that it need not be copied."""
        is_file = value.startswith("@") and value != "@-"
        return is_file and (kind == "data-binary" or Path(value[1:]).read_bytes() == body)

    def _join_data(self) -> bytes:
        content = b""
        for number, (kind, value) in enumerate(self.data):
            joint = b"&" if number and kind != "json" else b""
            content += joint + self._piece(kind, value)
        return content

    def _piece(self, kind: str, value: str) -> bytes:
        if kind == "data-urlencode":
            return self._encode(value).encode()
        if not value.startswith("@") or kind == "data-raw":
            return value.encode(*shell.ENCODING)
        content = self._file(value[1:])
        # The same of --data-ascii; of --json since 7.82 as of --data-binary.
        is_text = kind in ("data", "data-ascii")
        return re.sub(rb"[\r\n\0]", b"", content) if is_text else content

    def _encode(self, value: str) -> str:
        """``CONTENT``, ``=CONTENT``, ``NAME=CONTENT``, ``@FILE`` or ``NAME@FILE``."""
        found = re.match(r"([^=@]*)([=@])(.*)", value, re.DOTALL)
        if found is None:
            return curl_url.encode(value.encode(*shell.ENCODING))
        name, sign, rest = found.groups()
        content = self._file(rest) if sign == "@" else rest.encode(*shell.ENCODING)
        encoded = curl_url.encode(content)
        return f"{name}={encoded}" if name else encoded

    def _file(self, name: str) -> bytes:
        if name != "-":
            return self.files.read(name)
        if self.command.stdin_file is not None:
            return self.files.read(self.command.stdin_file)
        if self.command.stdin is None:
            raise UsageError("curl reads content from standard input", "write it into a file")
        return self.command.stdin.encode(*shell.ENCODING)


_REFUSED = {
    "resolve": "it changes the connection",
    "crlf": "it changes the content",
}

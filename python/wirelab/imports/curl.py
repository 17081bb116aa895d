"""A command of curl (https://curl.se/docs/manpage.html), as browsers copy it."""

from __future__ import annotations

import argparse
import re
import shlex
from typing import NoReturn
from urllib.parse import quote_plus, urlsplit

from wirelab.errors import UsageError
from wirelab.imports.http_request import NotImportable, Recorded
from wirelab.imports.operation import Imported

FORM = "application/x-www-form-urlencoded"
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
}


def read(command: str) -> Imported:
    """Its one request. Raises :class:`UsageError`."""
    options = _parsed(_words(command))
    recorded = _recorded(options)
    try:
        operation = recorded.operation()
    except NotImportable as reason:
        raise UsageError(f"this curl command cannot be imported: {reason}", "") from None
    service = {"http": {"version": "2"}} if options.http2 else {}
    title = urlsplit(operation.origin).hostname or "curl"
    return Imported(title, "a curl command", (operation,), (), service)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(_plain_quotes(command.replace("\\\r\n", " ").replace("\\\n", " ")))
    except ValueError as error:
        raise UsageError(
            f"this is no command of a shell: {error}", 'put it in single quotes, or in "$(cat)"'
        ) from None
    if not words or words[0].rpartition("/")[2] != "curl":
        raise UsageError("the command does not begin with curl", "write 'curl http://…'")
    return words[1:]


def _plain_quotes(command: str) -> str:
    """``$'…'`` of bash, in which browsers write content with quotes, in quotes that shlex knows."""

    def unescaped(match: re.Match[str]) -> str:
        text = re.sub(
            r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|(.))", _character, match[1], flags=re.S
        )
        return shlex.quote(text)

    return re.sub(r"(?<![\w'\"])\$'((?:[^'\\]|\\.)*)'", unescaped, command, flags=re.S)


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPES.get(match[3], match[3])


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"curl: {message}", "leave out what a request does not need")


class _Refuse(argparse.Action):
    """An option that changes what is sent in a way that no message can have."""

    def __call__(self, *words: object, **_: object) -> None:
        """Raises :class:`UsageError` with the reason."""
        raise UsageError(f"curl {words[-1]}: {self.const}", str(self.metavar))


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="curl", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("urls", nargs="*")
    add("--url", action="append", default=[])
    add("-X", "--request")
    add("-H", "--header", action="append", default=[])
    data = ("-d", "--data", "--data-ascii")
    for names, kind in (
        (data, "data"),
        (("--data-raw",), "raw"),
        (("--data-binary",), "binary"),
        (("--data-urlencode",), "urlencode"),
        (("--json",), "json"),
    ):
        add(*names, action=_Data, dest="data", default=[], const=kind)
    add("-u", "--user")
    add("-b", "--cookie")
    add("--oauth2-bearer")
    add("-A", "--user-agent")
    add("-e", "--referer")
    add("-G", "--get", action="store_true")
    add("-I", "--head", action="store_true")
    add("--http2", "--http2-prior-knowledge", action="store_true", dest="http2")
    for flag in (
        *("-k", "-s", "-S", "-v", "-i", "-L", "-g", "-f", "-N", "-#", "-0", "-4", "-6"),
        *("--insecure", "--silent", "--show-error", "--verbose", "--include", "--location"),
        *("--globoff", "--fail", "--no-buffer", "--compressed", "--progress-bar", "--http1.1"),
        *(
            "--http1.0",
            "--ipv4",
            "--ipv6",
            "--fail-with-body",
            "--path-as-is",
            "--no-progress-meter",
        ),
    ):
        add(flag, action="store_true", dest="ignored")
    for named in (
        *("-o", "-m", "-w", "-c", "-D", "--output", "--max-time", "--connect-timeout", "--retry"),
        *("--write-out", "--cookie-jar", "--dump-header", "--cacert", "--max-redirs"),
    ):
        add(named, dest="ignored")
    body = "its content is made by curl", "write it to a file and send it with --data-binary @FILE"
    other = "it changes the connection", "leave it out"
    for refused, (why, remedy) in {
        ("-F", "--form", "--form-string"): body,
        ("-T", "--upload-file"): body,
        ("-x", "--proxy"): other,
        ("-E", "--cert", "--key"): ("certificates belong to the service", "write tls: there"),
        ("-K", "--config"): ("options in a file are not read", "write them on the command line"),
        ("--unix-socket", "--abstract-unix-socket"): other,
        ("--resolve", "--connect-to"): other,
    }.items():
        add(*refused, action=_Refuse, const=why, metavar=remedy)
    add(
        "-:",
        "--next",
        action=_Refuse,
        nargs=0,
        const="there are two requests",
        metavar="import each alone",
    )
    return parser.parse_intermixed_args(words)


class _Data(argparse.Action):
    """Content in the order of the command line, with the option that it came with."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Adds the pair."""
        namespace.data = [*namespace.data, (self.const, values)]


def _recorded(options: argparse.Namespace) -> Recorded:
    urls = [*options.url, *options.urls]
    if len(urls) != 1:
        raise UsageError(f"the curl command has {len(urls)} URLs", "name one")
    url = urls[0] if "://" in urls[0] else f"http://{urls[0]}"
    recorded = Recorded("GET", url)
    for header in options.header:
        name, colon, value = header.partition(":")
        if colon and value.strip():
            recorded.headers.append((name, value.strip()))
    for name, value in (("referer", options.referer), ("cookie", options.cookie)):
        if value:
            recorded.headers.append((name, value))
    if options.user or options.oauth2_bearer:
        recorded.secrets.append("header authorization")
    _add_content(recorded, options)
    has_content = recorded.body is not None or recorded.body_file is not None
    recorded.method = "HEAD" if options.head else "POST" if has_content else "GET"
    recorded.method = options.request or recorded.method
    return recorded


def _add_content(recorded: Recorded, options: argparse.Namespace) -> None:
    if not options.data:
        return
    kinds = {kind for kind, _ in options.data}
    files = [value[1:] for kind, value in options.data if value[:1] == "@" and kind != "raw"]
    if "-" in files:
        raise UsageError("curl reads content from standard input", "write it into a file")
    if files and (len(options.data) > 1 or "urlencode" in kinds or options.get):
        raise UsageError("curl joins content of a file with other content", "put it in one file")
    if files:
        recorded.body_file = files[0]
    else:
        joined = ("" if kinds == {"json"} else "&").join(_piece(*one) for one in options.data)
        if options.get:
            recorded.url += ("&" if "?" in recorded.url else "?") + joined
            return
        recorded.body = joined
    given = {name.lower() for name, _ in recorded.headers}
    is_json = "json" in kinds
    if "content-type" not in given:
        recorded.headers.append(("content-type", "application/json" if is_json else FORM))
    if is_json and "accept" not in given:
        recorded.headers.append(("accept", "application/json"))


def _piece(kind: str, value: str) -> str:
    if kind != "urlencode":
        return value
    name, equals, content = value.partition("=")
    if not equals:
        return quote_plus(value)
    return f"{name}={quote_plus(content)}" if name else quote_plus(content)

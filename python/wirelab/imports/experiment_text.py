"""Writes operations as an experiment file, with comments on what a reader has to know."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from wirelab.errors import ExperimentError, UsageError
from wirelab.experiment import loading
from wirelab.experiment.external import ExternalMessage, ExternalPart, ExternalStep
from wirelab.format.counting import format_count
from wirelab.format.sanitize import sanitize
from wirelab.imports.operation import Imported, LeftOut, Operation, ScriptLoad, slug
from wirelab.run.directory import write_whole
from wirelab.stack import targets

WIDTH = 96
LOCAL = "127.0.0.1"
PORTS = {"http": 8080, "https": 8443, "grpc": 50051}
"""In place of what the document does not name."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    path: Path
    files: tuple[Path, ...]
    """Next to it."""
    url: str
    """Of the service in it."""
    messages: int
    is_ordered: bool
    """Whether they are steps of one message."""
    left_out: tuple[LeftOut, ...]
    secrets: tuple[str, ...]
    """Each ``message: header authorization``."""
    is_local: bool
    is_placeholder: bool
    """The document's own server is another machine, or none."""


def write(imported: Imported, out: Path | None, *, force: bool, any_target: bool) -> Written:
    """Writes the file and what belongs next to it. Nothing is left behind where that fails.
    Raises :class:`UsageError` for a file that is there, without ``force``."""
    path = out or Path(f"{_experiment_name(imported.title)}.yaml")
    place = _place(imported.operations[0], any_target)
    files = {path.with_suffix(end): content for end, content in imported.files.items()}
    for operation in imported.operations:
        if operation.attached is not None:
            files[_attachment_path(operation, path)] = operation.attached
    for one in (path, *files):
        if one.exists() and not force:
            raise UsageError(
                f"{one} exists and is kept", "name another file (--out FILE), or give --force"
            )
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: no such folder", "make it, or name another --out")
    text = _text(imported, place, path)
    _check(text, path, {one.name for one in files})
    for one, content in (*files.items(), (path, text.encode())):
        write_whole(one, content)
    secrets = tuple(
        f"{one.name}: {secret}" for one in imported.operations for secret in one.secrets
    )
    return Written(
        *(path, tuple(files), place.url, len(imported.operations)),
        *(imported.script is not None and len(imported.operations) > 1, imported.left_out, secrets),
        *(place.is_local, place.is_placeholder),
    )


def _check(text: str, path: Path, written: set[str]) -> None:
    """What is written is read again first; the files that are written with it are not there yet.
    Raises :class:`UsageError`."""
    try:
        experiment = loading.parse(text, str(path), needs_secrets=False)
    except ExperimentError as error:
        raise UsageError(
            f"the experiment would not be valid: {error.problems[0]}",
            "leave that operation out: --only PATTERN",
        ) from None
    messages = (one for one in experiment.messages if isinstance(one, ExternalMessage))
    requests = (request for one in messages for request in one.requests)
    others = (one for one in requests if not _files_of(one) & written)
    problem = next(filter(None, (one.problem for one in others)), "")
    if problem:
        raise UsageError(problem, "name a file that can be read")


def _files_of(request: ExternalMessage | ExternalPart | ExternalStep) -> set[str | None]:
    return {request.body_file, request.data.file if request.data else None}


@dataclass(frozen=True)
class _Place:
    url: str
    host: str
    is_local: bool
    is_placeholder: bool
    origin: str


def _place(operation: Operation, any_target: bool) -> _Place:
    """Where the experiment calls: the document's server if that is on this machine or allowed,
    else this machine."""
    origin = operation.origin
    kind = "grpc" if "grpc" in operation.request else "http"
    if not origin:
        return _Place(f"{kind}://{LOCAL}:{PORTS[kind]}", LOCAL, True, True, "")
    url = urlsplit(origin)
    host = url.hostname or LOCAL
    try:
        method = "/any.Service/Method" if url.scheme.startswith("grpc") else "/"
        server = targets.parse(f"{origin}{method}")
        is_local = isinstance(server, targets.Server) and server.local
    except UsageError:
        if any_target:
            raise
        is_local = False  # a name that is not known here
    if is_local or any_target:
        return _Place(origin, host, is_local, False, origin)
    port = url.port or PORTS[url.scheme]
    return _Place(f"{url.scheme}://{LOCAL}:{port}", LOCAL, True, True, origin)


def _experiment_name(title: str) -> str:
    return slug(title).replace(".", "-")


def _text(imported: Imported, place: _Place, path: Path) -> str:
    name = re.sub(r"-{2,}", "-", _experiment_name(imported.title))
    lines = [
        *_comment(f"Imported from {imported.source}. Correct values that the service refuses."),
        *_head(imported, place),
        f"name: {_scalar(name)}",
        "services:",
        *_service(imported, place, path, name),
    ]
    if not place.is_local:
        lines += [
            "# wirelab calls other machines only with --any-target as well.",
            f"allow_targets: [{place.host}]",
        ]
    return "\n".join((*lines, *_messages(imported, path), *_load(imported.script, place))) + "\n"


def _load(script: ScriptLoad | None, place: _Place) -> Iterator[str]:
    if script is not None and (place.is_local or script.is_bounded):
        for note in script.notes:
            yield from _comment(note)
        keys = dict(script.keys)
        yield "loads:"
        yield from _dump(keys.pop("loads"), "  ")
        yield from _dump(keys, "")
        return
    if script is not None:
        yield from _comment(
            "The load of the script is left out: on another machine a load needs a bound on its "
            "calls."
        )
    yield "loads:"
    if place.is_local:
        yield "  - closed: {users: 4}"
    else:
        # Of another machine's calls there must be a bound.
        yield "  - constant: {rate: 10, in_flight_max: 4}"
    yield "window: {duration: 1 s}"


def _head(imported: Imported, place: _Place) -> Iterator[str]:
    methods = {one.request.get("method") for one in imported.operations}
    if methods - {"GET", "OPTIONS", None}:
        yield from _comment("Some of these calls change data: use a service that may be filled.")
    secrets = sorted({secret for one in imported.operations for secret in one.secrets})
    if secrets:
        yield from _comment("Secrets are left out; the service may refuse calls without them:")
        yield from (f"#   {_line(secret)}" for secret in secrets)
        yield from _comment(
            "Write them under http.headers of the service, or in the headers of a message, with "
            "the value in the environment: authorization: Bearer ${NAME}."
        )
    if imported.left_out:
        yield "# Left out:"
        for what, why in imported.left_out[:100]:
            yield from _comment(f"  {what}: {why}")
        if (more := len(imported.left_out) - 100) > 0:
            yield f"#   and {more} more"


def _service(imported: Imported, place: _Place, path: Path, name: str) -> Iterator[str]:
    if place.is_placeholder:
        other = (
            f"The document's server is {place.origin}"
            if place.origin
            else ("The document names no server")
        )
        yield from _comment(f"{other}: write where your own instance is.", "  ")
    yield f"  - name: {_scalar(name)}"
    yield f"    url: {_scalar(place.url)}"
    service = dict(imported.service)
    hosts = {one.host for one in imported.operations}
    if len(hosts) == 1 and (host := hosts.pop()):
        yield f"    host: {_scalar(host)}"
    if "grpc" in service:
        first = imported.operations[0].request["grpc"]
        service["grpc"] = {"method": first, **_relative(service["grpc"], path)}
    if service:
        yield from _dump(service, "    ")


def _relative(grpc: dict[str, Any], path: Path) -> dict[str, Any]:
    """Files as seen from the experiment's folder."""

    found = {**grpc, "proto": _relative_path(path, grpc["proto"])}
    if "include" in grpc:
        found["include"] = [os.path.relpath(folder, path.parent) for folder in grpc["include"]]
    return found


def _relative_path(path: Path, file: str) -> str:
    """A file as the experiment names it."""
    if file.startswith(".") and "/" not in file:
        return path.with_suffix(file).name  # it is written next to it
    return os.path.relpath(file, path.parent)


def _attachment_path(operation: Operation, path: Path) -> Path:
    """Where the content of a message is that is not text."""
    return path.with_suffix(f".{operation.name}.bin")


def _messages(imported: Imported, path: Path) -> Iterator[str]:
    """One for each operation; of a load script one in all."""
    yield "messages:"
    script, indent = imported.script, "  "
    data: dict[str, Any] = {}
    if script is not None and script.data:
        data = {"data": {**script.data, "file": _relative_path(path, str(script.data["file"]))}}
    if script is not None and len(imported.operations) > 1:
        yield f"  - name: {_scalar(script.name)}"
        yield from _dump(data, "    ") if data else ()
        yield "    # One user sends them in this order; a reply that is not 2xx ends it."
        yield "    steps:"
        indent, data = "      ", {}
    has_own_hosts = len({one.host for one in imported.operations}) > 1
    for one in imported.operations:
        yield from _message(one, path, indent, data, has_own_host=has_own_hosts)


def _message(
    operation: Operation, path: Path, indent: str, data: dict[str, Any], *, has_own_host: bool
) -> Iterator[str]:
    for note in operation.notes:
        yield from _comment(note, indent)
    if operation.host and has_own_host:
        yield from _comment(f"Host {operation.host} is left out: others have another one", indent)
    if operation.secrets:
        yield from _comment(f"Left out: {', '.join(operation.secrets)}", indent)
    request = dict(operation.request)
    if "body_file" in request:
        request["body_file"] = os.path.relpath(request["body_file"], path.parent)
    if operation.attached is not None:
        request["body_file"] = _attachment_path(operation, path).name
    lines = list(_dump({"name": operation.name, **request, **data}, f"{indent}  "))
    yield f"{indent}- {lines[0].strip()}"
    yield from lines[1:]


def _dump(value: object, indent: str) -> Iterator[str]:
    text = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=None,
    )
    yield from (f"{indent}{line}" if line else "" for line in text.splitlines())


if TYPE_CHECKING:
    _Base = yaml.SafeDumper
else:
    # libyaml writes ten times as fast; a PyYAML that was built without it writes the same.
    _Base = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):
    """The same value twice is written twice, and no alias."""

    def ignore_aliases(self, data: Any) -> bool:
        """Always."""
        return True


def _scalar(text: str) -> str:
    """In quotes where it would be a number, or anything else than itself."""
    return yaml.dump(text, Dumper=_Dumper, width=1_000).splitlines()[0]


def _comment(text: str, indent: str = "") -> Iterable[str]:
    lead = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        _line(text),
        WIDTH,
        initial_indent=f"{indent}# {lead}",
        subsequent_indent=f"{indent}#   {lead}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _line(text: str) -> str:
    """Without line ends and control characters, in which a comment would end."""
    return re.sub(r"[\s\x85\u2028\u2029]+", " ", sanitize(text)).strip()[:500]


def summary(written: Written) -> Iterator[str]:
    """What a person should know, as lines."""
    noun = "step" if written.is_ordered else "message"
    yield f"{written.path}: {format_count(written.messages, noun)} to {written.url}"
    yield from (f"{one}: belongs to it" for one in written.files)
    if written.is_placeholder:
        yield "where the service is, is not known: correct `url` in the file"
    yield from _list_lines("left out", [f"{what}: {why}" for what, why in written.left_out])
    yield from _list_lines("secrets left out", list(written.secrets))
    any_target = "" if written.is_local else " --any-target"
    yield f"next: wirelab run {written.path}{any_target}"


def _list_lines(what: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{what}:"
        yield from (f"  {_line(one)}" for one in lines[:20])
        if len(lines) > 20:
            yield f"  and {len(lines) - 20} more, in the file's comments"

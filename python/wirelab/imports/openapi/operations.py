"""The operations of a document as requests, with an example of what each sends."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from wirelab.imports import multipart
from wirelab.imports.budget import OPERATIONS_MAX, Budget
from wirelab.imports.http_request import FORM
from wirelab.imports.openapi import content as content_types
from wirelab.imports.openapi.document import Paths, check_version, parse
from wirelab.imports.openapi.examples import MISSING, Examples, Memo
from wirelab.imports.openapi.references import References, Unresolved
from wirelab.imports.operation import NAMES_MAX, Imported, LeftOut, Operation, matches, slug
from wirelab.imports.source import Places, Text, lists
from wirelab.secrets.names import is_secret_name

METHODS = ("get", "put", "post", "delete", "options", "patch", "head")
UNMEASURED = ("trace",)
SUMMARY_MAX = 500
"""Characters, as many as a comment of the experiment has."""
PARAMETER_STEPS = 5
_RESERVED = {"accept", "content-type", "authorization"}
"""Header parameters that OpenAPI ignores."""


def read(text: Text, only: str | None = None) -> Imported:
    """Its operations; of ``only``, a shell pattern, no others are made. Raises
    :class:`UsageError`."""
    budget = Budget(text.name, is_selected=only is not None)
    content = parse(text, budget)
    version = check_version(text, content)
    reader = _Reader(text, content, budget)
    places = Places(text)
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    others: list[str] = []
    if only is None:
        most = islice(reader.operations(), OPERATIONS_MAX + 1)
        budget.check_operations(sum(1 for _ in most))
    for call in reader.operations():
        budget.where = f"{text.name}: {call.named}"
        budget.add_operation()
        try:
            draft = reader.draft(call) if only is None or reader.may_match(call, only) else None
            if draft is None or (only is not None and not matches(draft.operation, only)):
                others += [call.name] if len(others) < NAMES_MAX else []
                continue
            found.append(reader.complete(draft))
        except _Unmakeable as reason:
            left_out.append(LeftOut(f"{places.of(call.path)}: {call.named}", str(reason)))
            continue
        except Unresolved as error:
            left_out.append(LeftOut(call.named, f"{error.message}; {error.remedy}"))
            continue
        budget.take_message(found[-1])
    left_out += [LeftOut(path, why) for path, why in reader.unresolved.items()]
    info = content.get("info")
    title = info.get("title") if isinstance(info, dict) else None
    return Imported(
        str(title or text.stem),
        f"{version}, {text.name}",
        *(tuple(found), tuple(left_out)),
        others=tuple(others),
    )


class _Unmakeable(Exception):
    """No request can be made of an operation; carries the reason."""


@dataclass(frozen=True)
class _Call:
    """A method of a path."""

    path: str
    method: str
    item: dict[str, Any]
    operation: dict[str, Any]

    @property
    def named(self) -> str:
        """``POST /pets``."""
        return f"{self.method.upper()} {self.path}"

    @property
    def name(self) -> str:
        """As a message has it."""
        given = self.operation.get("operationId")
        return slug(str(given)[:SUMMARY_MAX]) if given else slug(self.method, self.path)


@dataclass(frozen=True)
class _Draft:
    """A call with all that ``--only`` may match, without its content."""

    call: _Call
    operation: Operation
    parameters: list[tuple[dict[str, Any], References]]
    examples: Examples
    secrets: list[str]


class _Reader:
    """One document."""

    def __init__(self, text: Text, content: dict[str, Any], budget: Budget) -> None:
        self._text = text
        self._content = content
        self._budget = budget
        self._root = References.of(text, content, parse, budget)
        self._memo = Memo(budget)
        self._schemes = self._security_schemes()
        self.unresolved: dict[str, str] = {}
        """Paths whose reference leads nowhere, with the reason."""

    def operations(self) -> Iterator[_Call]:
        """All, also those that are not measured."""
        paths = self._content.get("paths") or {}
        for path, item in paths.each() if isinstance(paths, Paths) else paths.items():
            try:
                item = self._root.follow(item).value
            except Unresolved as error:
                self.unresolved[str(path)] = f"{error.message}; {error.remedy}"
                continue
            for method in (*METHODS, *UNMEASURED) if isinstance(item, dict) else ():
                operation = item.get(method)
                if isinstance(operation, dict):
                    yield _Call(str(path), method, item, operation)

    def may_match(self, call: _Call, only: str) -> bool:
        """Whether the pattern can match, judged before the parameters have values: by the name,
        and by what the path and the pattern begin with."""
        begin = re.split(r"[*?[]", only, maxsplit=1)[0]
        if fnmatch.fnmatchcase(call.name, only):
            return True
        if begin == only and "/" not in only:
            return False  # all that is not the name has a slash
        origin, prefix = _split_server(self._server(call.operation, call.item))
        path = _quote_path(f"{prefix}{call.path.partition('{')[0]}")
        words = (f"{call.method.upper()} {path}", f"{origin}{path}", path)
        return any(word.startswith(begin) or begin.startswith(word) for word in words)

    def draft(self, call: _Call) -> _Draft:
        """Name, method, path and origin. Raises :class:`UsageError`."""
        self._budget.take_steps()
        operation = call.operation
        secrets = self._secrets(operation)
        examples = Examples(self._memo)
        parameters = self._parameters(call.item, operation)
        origin, prefix = _split_server(self._server(operation, call.item))
        filled, query, headers = self._fill_parameters(call.path, parameters, examples, secrets)
        request: dict[str, Any] = {
            "method": call.method.upper(),
            "path": _quote_path(f"{prefix}{filled}"),
        }
        if query:
            request["path"] += f"?{urlencode(query)}"
        if headers:
            request["headers"] = headers
        return _Draft(call, Operation(call.name, request, origin), parameters, examples, secrets)

    def complete(self, draft: _Draft) -> Operation:
        """With its content. Raises :class:`_Unmakeable` and :class:`UsageError`."""
        call, examples = draft.call, draft.examples
        if call.method in UNMEASURED:
            raise _Unmakeable("it asks proxies to repeat the request")
        operation = call.operation
        if "swagger" in self._content:
            content = self._swagger_content(operation, draft.parameters, examples)
        else:
            content = self._content_of(operation.get("requestBody"), examples)
        request = dict(draft.operation.request)
        headers = request.pop("headers", {}) | content.pop("headers", {})
        if headers:
            request["headers"] = headers
        summary = str(operation.get("summary") or "")[:SUMMARY_MAX].splitlines()
        notes = [*summary[:1], *(["deprecated"] if operation.get("deprecated") is True else [])]
        return replace(
            draft.operation,
            request={**request, **content},
            notes=(*notes, *examples.notes),
            secrets=tuple(dict.fromkeys(draft.secrets)),
        )

    def _server(self, operation: dict[str, Any], item: dict[str, Any]) -> str:
        """URL of the server, with its path; without a host where the document names none."""
        if "swagger" in self._content:
            host, base = self._content.get("host"), str(self._content.get("basePath") or "")
            scheme = next(iter(lists(self._content.get("schemes"))), "http")
            own = f"{scheme}://{host}{base}" if host else base
            return self._join_url(own)
        for holder in (operation, item, self._content):
            for server in lists(holder.get("servers")):
                if isinstance(server, dict):
                    return self._join_url(self._with_variables(server))
        return self._join_url("/")

    def _join_url(self, url: str) -> str:
        """A document from a URL may name its server without a host."""
        try:
            return url if self._text.folder is not None else urljoin(self._text.name, url)
        except ValueError:
            return ""  # it is not a URL

    @staticmethod
    def _with_variables(server: dict[str, Any]) -> str:
        variables = server.get("variables")

        def value(match: re.Match[str]) -> str:
            known = variables.get(match[1]) if isinstance(variables, dict) else None
            return str(known.get("default", match[1])) if isinstance(known, dict) else match[1]

        return re.sub(r"\{([^{}]+)\}", value, str(server.get("url") or ""))

    def _parameters(
        self, item: dict[str, Any], operation: dict[str, Any]
    ) -> list[tuple[dict[str, Any], References]]:
        """Of the operation, and those of its path that it does not replace."""
        found: dict[tuple[str, str], tuple[dict[str, Any], References]] = {}
        for holder in (item, operation):
            given = lists(holder.get("parameters"))
            self._budget.take_steps(PARAMETER_STEPS * len(given))
            for one in given:
                parameter = self._root.follow(one)
                if isinstance(parameter.value, dict) and "name" in parameter.value:
                    key = (str(parameter.value.get("in")), str(parameter.value.get("name")))
                    found[key] = (parameter.value, parameter.at)
        return list(found.values())

    def _fill_parameters(
        self,
        path: str,
        parameters: list[tuple[dict[str, Any], References]],
        examples: Examples,
        secrets: list[str],
    ) -> tuple[str, list[tuple[str, str]], dict[str, str]]:
        """The path with its parameters, the query, the headers."""
        query: list[tuple[str, str]] = []
        headers: dict[str, str] = {}
        for parameter, at in parameters:
            place, name = parameter.get("in"), str(parameter.get("name"))
            if place not in ("path", "query", "header", "cookie"):
                continue  # Swagger's content
            if place != "path" and parameter.get("required") is not True:
                continue
            if place == "cookie" or (place != "path" and is_secret_name(name)):
                secrets.append(f"{place} {name}")
                continue
            value = self._parameter(parameter, at, examples)
            if place == "path":
                path = path.replace(
                    f"{{{name}}}", quote(",".join(content_types.words(value)), safe="")
                )
            elif place == "query":
                query += content_types.write_query(name, value, parameter)
            elif name.lower() not in _RESERVED:
                headers[name.lower()] = ",".join(content_types.words(value))
        # Of those that no parameter declares.
        return re.sub(r"\{([^{}/]+)\}", "1", path), query, headers

    def _parameter(self, parameter: dict[str, Any], at: References, examples: Examples) -> Any:
        value = self._parameter_value(parameter, at, examples)
        self._budget.check_value(value)
        return "1" if value is MISSING or value == {} else value

    @staticmethod
    def _parameter_value(parameter: dict[str, Any], at: References, examples: Examples) -> Any:
        given = _media_example(parameter, at)
        if given is not MISSING:
            return given
        media = parameter.get("content")
        inner: Any = next(iter(media.values()), {}) if isinstance(media, dict) else {}
        schema = parameter.get("schema") or (inner.get("schema") if isinstance(inner, dict) else {})
        # Of Swagger, the parameter itself has the keys of a schema.
        return examples.of(schema or {k: parameter[k] for k in _SCHEMA & set(parameter)}, at)

    def _content_of(self, given: Any, examples: Examples) -> dict[str, Any]:
        body = self._root.follow(given)
        content = body.value.get("content") if isinstance(body.value, dict) else None
        if not isinstance(content, dict) or not content:
            return {}
        kinds = list(content)
        kind = content_types.choose(kinds)
        if kind is None:
            if body.value.get("required") is not True:
                return {}
            raise _Unmakeable(f"no example of {', '.join(kinds)} can be made; write body_file")
        media = body.at.follow(content[kind])
        media_type = media.value if isinstance(media.value, dict) else {}
        value = _media_example(media_type, media.at)
        if value is MISSING:
            value = examples.of(media_type.get("schema", {}), media.at)
        self._budget.check_value(value)
        is_form = kind.startswith(multipart.KIND)
        return content_types.write(
            kind, value, self._files(media_type, media.at) if is_form else {}
        )

    def _files(self, media_type: dict[str, Any], at: References) -> dict[str, str]:
        """Fields of a form that are files, with their types."""
        schema = at.follow(media_type.get("schema"))
        properties = schema.value.get("properties") if isinstance(schema.value, dict) else None
        encoding = media_type.get("encoding")
        found = {}
        for name, one in properties.items() if isinstance(properties, dict) else ():
            inner = schema.at.follow(one)
            if isinstance(inner.value, dict) and "items" in inner.value:
                inner = inner.at.follow(inner.value["items"])
            of_field = encoding.get(name) if isinstance(encoding, dict) else None
            kind = of_field.get("contentType") if isinstance(of_field, dict) else None
            given = inner.value if isinstance(inner.value, dict) else {}
            if given.get("format") == "binary" or "contentMediaType" in given:
                kind = kind or given.get("contentMediaType") or content_types.FILE
                found[str(name)] = str(kind).partition(",")[0].replace("*/*", content_types.FILE)
        return found

    def _swagger_content(
        self,
        operation: dict[str, Any],
        parameters: list[tuple[dict[str, Any], References]],
        examples: Examples,
    ) -> dict[str, Any]:
        consumes = operation.get("consumes") or self._content.get("consumes")
        kinds = [str(kind) for kind in lists(consumes)]
        form = [(p, at) for p, at in parameters if p.get("in") == "formData"]
        needed = [(p, at) for p, at in form if p.get("required") is True]
        files = {str(p["name"]): content_types.FILE for p, _ in needed if p.get("type") == "file"}
        if form:
            fields = {str(p["name"]): self._parameter(p, at, examples) for p, at in needed}
            is_multipart = files or (kinds and FORM not in kinds)
            return content_types.write(multipart.KIND if is_multipart else FORM, fields, files)
        for parameter, at in parameters:
            if parameter.get("in") == "body":
                kind = content_types.choose(kinds or ["application/json"])
                if kind is None:
                    raise _Unmakeable(f"no example of {', '.join(kinds)} can be made")
                value = examples.of(parameter.get("schema", {}), at)
                self._budget.check_value(value)
                return content_types.write(kind, value, {})
        return {}

    def _security_schemes(self) -> dict[str, str]:
        """What each scheme sends, by its name."""
        holder = self._content.get("components")
        listed = holder.get("securitySchemes") if isinstance(holder, dict) else None
        listed = listed or self._content.get("securityDefinitions")
        return {
            str(name): self._scheme(scheme)
            for name, scheme in (listed.items() if isinstance(listed, dict) else ())
        }

    def _scheme(self, scheme: Any) -> str:
        try:
            return _scheme(self._root.follow(scheme).value)
        except Unresolved:
            return "credentials"  # of a kind that is not described

    def _secrets(self, operation: dict[str, Any]) -> list[str]:
        needed = operation.get("security", self._content.get("security"))
        if not isinstance(needed, list) or not needed or {} in needed:
            return []
        first = needed[0]
        names = first if isinstance(first, dict) else {}
        self._budget.take_steps(len(names))
        return [f"{self._schemes.get(name, 'credentials')} (scheme {name})" for name in names]


_SCHEMA = {
    "type",
    "format",
    "items",
    "enum",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "example",
}


def _split_server(server: str) -> tuple[str, str]:
    """Origin and path of a server's URL; both empty where it is none."""
    try:
        url = urlsplit(server)
        port = url.port
    except ValueError:
        return "", ""
    if url.scheme not in ("http", "https"):
        return "", url.path.rstrip("/")
    host = url.hostname or ""
    if not re.fullmatch(r"[\w.:-]+", host, re.ASCII):
        return "", ""
    host = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{host}{f':{port}' if port else ''}", url.path.rstrip("/")


def _quote_path(path: str) -> str:
    return quote(path if path.startswith("/") else f"/{path}", safe="/:@!$&'()*+,;=-._~%")


def _scheme(scheme: Any) -> str:
    given = scheme if isinstance(scheme, dict) else {}
    if given.get("type") == "apiKey":
        return f"{given.get('in')} {given.get('name')}"
    return "header authorization"


def _media_example(holder: dict[str, Any], at: References) -> Any:
    if "example" in holder:
        return holder["example"]
    examples = holder.get("examples")
    if isinstance(examples, dict) and examples:
        first = at.follow(next(iter(examples.values()))).value
        if isinstance(first, dict) and "value" in first:
            return first["value"]
    return MISSING

"""OpenAPI 3.0 and 3.1 (https://spec.openapis.org) and Swagger 2.0, in JSON or YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from wirelab.errors import UsageError
from wirelab.experiment import yaml_source
from wirelab.imports.operation import Imported, LeftOut, Operation, slug
from wirelab.imports.references import References
from wirelab.imports.schema_examples import MISSING, Examples
from wirelab.imports.source import Text, lists, mappings
from wirelab.secrets.names import is_secret_name

WHAT = "an OpenAPI 3 or Swagger 2 document"
METHODS = ("get", "put", "post", "delete", "options", "patch")
NODES_MAX = 5_000_000
"""Values of a document in YAML, aliases followed."""
UNMEASURED = ("head", "trace")
FORM = "application/x-www-form-urlencoded"
_RESERVED = {"accept", "content-type", "authorization"}
"""Header parameters that OpenAPI ignores."""


def read(text: Text) -> Imported:
    """Its operations. Raises :class:`UsageError`."""
    content = _parse(text)
    version = _version(text, content)
    reader = _Reader(text, content)
    found: list[Operation] = []
    left_out: list[LeftOut] = []
    for path, method, item, operation in reader.operations():
        named = f"{text.line_of(_quoted(text, path))}: {method.upper()} {path}"
        if method in UNMEASURED:
            left_out.append(LeftOut(named, "a reply without content is not measured"))
            continue
        try:
            found.append(reader.operation(path, method, item, operation))
        except _Unmakeable as reason:
            left_out.append(LeftOut(named, str(reason)))
    info = content.get("info")
    title = info.get("title") if isinstance(info, dict) else None
    return Imported(
        str(title or text.stem), f"{version}, {text.name}", tuple(found), tuple(left_out)
    )


class _Unmakeable(Exception):
    """No request can be made of an operation; carries the reason."""


def _parse(text: Text) -> Any:
    if text.text.lstrip()[:1] == "{":
        return text.json(WHAT)
    return text.checked(yaml_source.read(text.text, text.name, NODES_MAX).values)


def _quoted(text: Text, path: str) -> str:
    return f'"{path}"' if text.text.lstrip()[:1] == "{" else path


def _version(text: Text, content: Any) -> str:
    given = content if isinstance(content, dict) else {}
    version = str(given.get("openapi") or given.get("swagger") or "")
    if not re.match(r"3\.|2\.0", version) or not isinstance(given.get("paths", {}), dict):
        found = f"it is of version {version}" if version else "it has neither openapi nor swagger"
        raise UsageError(f"{text.name}: {found}", f"name {WHAT}")
    return f"{'OpenAPI' if 'openapi' in given else 'Swagger'} {version}"


class _Reader:
    """One document."""

    def __init__(self, text: Text, content: dict[str, Any]) -> None:
        self._text = text
        self._content = content
        self._root = References.of(text, content, _parse)
        self._schemes = self._security_schemes()

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
        """Path, method, path item and operation."""
        for path, item in (self._content.get("paths") or {}).items():
            item = self._root.follow(item).value
            for method in (*METHODS, *UNMEASURED) if isinstance(item, dict) else ():
                operation = item.get(method)
                if isinstance(operation, dict):
                    yield str(path), method, item, operation

    def operation(
        self, path: str, method: str, item: dict[str, Any], operation: dict[str, Any]
    ) -> Operation:
        """Raises :class:`_Unmakeable` and :class:`UsageError`."""
        secrets = self._secrets(operation)
        examples = Examples()
        parameters = self._parameters(item, operation)
        origin, prefix = _parted(self._server(operation, item))
        filled, query, headers = self._filled(path, parameters, examples, secrets)
        at = f"{prefix}{filled}"
        request: dict[str, Any] = {
            "method": method.upper(),
            "path": quote(at if at.startswith("/") else f"/{at}", safe="/:@!$&'()*+,;=-._~%"),
        }
        if query:
            request["path"] += f"?{urlencode(query)}"
        if "swagger" in self._content:
            content = self._swagger_content(operation, parameters, examples)
        else:
            content = self._content_of(operation.get("requestBody"), examples)
        headers |= content.pop("headers", {})
        if headers:
            request["headers"] = headers
        name = operation.get("operationId")
        notes = [str(summary).splitlines()[0]] if (summary := operation.get("summary")) else []
        if operation.get("deprecated") is True:
            notes.append("deprecated")
        return Operation(
            slug(str(name)) if name else slug(method, path),
            {**request, **content},
            origin,
            (*notes, *examples.notes),
            tuple(dict.fromkeys(secrets)),
        )

    def _server(self, operation: dict[str, Any], item: dict[str, Any]) -> str:
        """URL of the server, with its path; without a host where the document names none."""
        if "swagger" in self._content:
            host, base = self._content.get("host"), str(self._content.get("basePath") or "")
            scheme = next(iter(lists(self._content.get("schemes"))), "http")
            own = f"{scheme}://{host}{base}" if host else base
            return self._joined(own)
        for holder in (operation, item, self._content):
            for server in mappings(holder.get("servers")):
                return self._joined(self._with_variables(server))
        return self._joined("/")

    def _joined(self, url: str) -> str:
        """A document from a URL may name its server without a host."""
        try:
            return url if self._text.folder is not None else urljoin(self._text.name, url)
        except ValueError:
            return ""  # it is no URL

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
            for one in lists(holder.get("parameters")):
                parameter = self._root.follow(one)
                if isinstance(parameter.value, dict) and "name" in parameter.value:
                    key = (str(parameter.value.get("in")), str(parameter.value.get("name")))
                    found[key] = (parameter.value, parameter.at)
        return list(found.values())

    def _filled(
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
                path = path.replace(f"{{{name}}}", quote(",".join(_words(value)), safe=""))
            elif place == "query":
                query += _query(name, value, parameter)
            elif name.lower() not in _RESERVED:
                headers[name.lower()] = ",".join(_words(value))
        # Of those that no parameter declares.
        return re.sub(r"\{([^{}/]+)\}", "1", path), query, headers

    def _parameter(self, parameter: dict[str, Any], at: References, examples: Examples) -> Any:
        given = _media_example(parameter, at)
        if given is not MISSING:
            return given
        media = parameter.get("content")
        inner: Any = next(iter(media.values()), {}) if isinstance(media, dict) else {}
        schema = parameter.get("schema") or (inner.get("schema") if isinstance(inner, dict) else {})
        # Of Swagger, the parameter itself has the keys of a schema.
        value = examples.of(schema or {k: parameter[k] for k in _SCHEMA & set(parameter)}, at)
        return "1" if value is MISSING or value == {} else value

    def _content_of(self, given: Any, examples: Examples) -> dict[str, Any]:
        body = self._root.follow(given)
        content = body.value.get("content") if isinstance(body.value, dict) else None
        if not isinstance(content, dict) or not content:
            return {}
        kinds = list(content)
        kind = _chosen(kinds)
        if kind is None:
            if body.value.get("required") is not True:
                return {}
            raise _Unmakeable(f"no example of {', '.join(kinds)} can be made; write body_file")
        media = body.at.follow(content[kind])
        media_type = media.value if isinstance(media.value, dict) else {}
        value = _media_example(media_type, media.at)
        if value is MISSING:
            value = examples.of(media_type.get("schema", {}), media.at)
        return _written(kind, value)

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
        if any(p.get("type") == "file" for p, _ in needed) or (
            form and FORM not in kinds and kinds
        ):
            raise _Unmakeable("no example of a form with files can be made; write body_file")
        if form:
            fields = {str(p["name"]): self._parameter(p, at, examples) for p, at in needed}
            return _written(FORM, fields)
        for parameter, at in parameters:
            if parameter.get("in") == "body":
                kind = _chosen(kinds or ["application/json"])
                if kind is None:
                    raise _Unmakeable(f"no example of {', '.join(kinds)} can be made")
                return _written(kind, examples.of(parameter.get("schema", {}), at))
        return {}

    def _security_schemes(self) -> dict[str, str]:
        """What each scheme sends, by its name."""
        holder = self._content.get("components")
        listed = holder.get("securitySchemes") if isinstance(holder, dict) else None
        listed = listed or self._content.get("securityDefinitions")
        return {
            str(name): _scheme(self._root.follow(scheme).value)
            for name, scheme in (listed.items() if isinstance(listed, dict) else ())
        }

    def _secrets(self, operation: dict[str, Any]) -> list[str]:
        needed = operation.get("security", self._content.get("security"))
        if not isinstance(needed, list) or not needed or {} in needed:
            return []
        first = needed[0]
        names = first if isinstance(first, dict) else {}
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


def _parted(server: str) -> tuple[str, str]:
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


def _is_json(kind: str) -> bool:
    kind = kind.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json") or kind == "*/*"


def _chosen(kinds: list[str]) -> str | None:
    """The type of content of which an example can be made."""
    for fits in (_is_json, lambda kind: kind.startswith((FORM, "text/"))):
        for kind in kinds:
            if fits(kind):
                return kind
    return None


def _written(kind: str, value: Any) -> dict[str, Any]:
    if value is MISSING:
        return {}
    if _is_json(kind):
        named = kind.partition(";")[0].strip().lower() in ("application/json", "*/*")
        return {"json": value} | ({} if named else {"headers": {"content-type": kind}})
    if kind.startswith(FORM) and isinstance(value, dict):
        value = urlencode([(name, ",".join(_words(one))) for name, one in value.items()])
    text = value if isinstance(value, str) else ",".join(_words(value))
    return {"headers": {"content-type": kind}, "body": text}


def _query(name: str, value: Any, parameter: dict[str, Any]) -> list[tuple[str, str]]:
    """As the styles `form` (exploded or not) and `deepObject` write it."""
    if isinstance(value, dict):
        if parameter.get("style") == "deepObject":
            return [(f"{name}[{key}]", ",".join(_words(one))) for key, one in value.items()]
        return [(str(key), ",".join(_words(one))) for key, one in value.items()]
    is_exploded = parameter.get("explode", parameter.get("collectionFormat", "multi") == "multi")
    if isinstance(value, list) and is_exploded:
        return [(name, word) for word in _words(value)]
    return [(name, ",".join(_words(value)))]


def _words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [word for one in value for word in _words(one)]
    if isinstance(value, dict):
        return [word for key, one in value.items() for word in (str(key), *_words(one))]
    if isinstance(value, bool) or value is None:
        return ["" if value is None else str(value).lower()]
    return [str(value)]

"""XML and SOAP 1.1 document/literal."""

from __future__ import annotations

import re
from typing import Any, NoReturn
from xml.etree import ElementTree

from wirelab.contracts.codecs import scalars
from wirelab.contracts.names import xml_name
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import Value, complete
from wirelab.errors import UsageError

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
_NOT_ALLOWED = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}


def find_forbidden_character(text: str) -> str | None:
    """The first character that XML 1.0 does not allow."""
    found = _NOT_ALLOWED.search(text)
    return found[0] if found else None


def encode(contract: Contract, message: str, value: Value, *, is_soap: bool) -> bytes:
    """Without white space between elements. Raises :class:`UsageError`."""
    parts: list[str] = []
    whole = complete(contract, message, value)
    _write_message(contract, message, whole, message, parts)
    body = f'<{message} xmlns="{contract.xml_namespace}">{"".join(parts)}</{message}>'
    if is_soap:
        body = (
            f'<soapenv:Envelope xmlns:soapenv="{_SOAP}"><soapenv:Body>{body}</soapenv:Body>'
            "</soapenv:Envelope>"
        )
    return f"{_DECLARATION}{body}".encode()


def _write_message(
    contract: Contract, message: str, value: Value, path: str, parts: list[str]
) -> None:
    for field in contract.message_by_name[message].fields:
        if field.name not in value:
            continue
        found, here, name = value[field.name], f"{path}.{field.name}", xml_name(field.json_name)
        if field.map_key is not None:
            for key, one in found.items():
                with scalars.FieldPath(here):
                    text = _escape(scalars.write_key(field.map_key, key))
                parts.append(f"<{name}><key>{text}</key>")
                _write_one(contract, field, one, "value", here, parts)
                parts.append(f"</{name}>")
        else:
            for one in found if field.label is Label.REPEATED else (found,):
                _write_one(contract, field, one, name, here, parts)


def _write_one(
    contract: Contract, field: Field, value: Any, name: str, path: str, parts: list[str]
) -> None:
    parts.append(f"<{name}>")
    if field.kind is Kind.MESSAGE:
        _write_message(contract, field.type_name, value, path, parts)
    else:
        with scalars.FieldPath(path):
            parts.append(_escape(scalars.write_text(contract, field, value)))
    parts.append(f"</{name}>")


def _escape(text: str) -> str:
    forbidden = find_forbidden_character(text)
    if forbidden is not None:
        raise UsageError(f"XML does not allow the character U+{ord(forbidden):04X}")
    return re.sub("[&<>\r]", lambda found: _SPECIAL[found[0]], text)


class _Builder(ElementTree.TreeBuilder):
    """Elements; a document type is refused, because it can define entities."""

    def doctype(self, name: str, public: str | None, system: str | None) -> NoReturn:
        raise ElementTree.ParseError("it has a document type declaration")


def decode(contract: Contract, message: str, content: bytes, *, is_soap: bool) -> Value:
    """Unknown elements are ignored. Raises :class:`UsageError`."""
    parser = ElementTree.XMLParser(target=_Builder())
    try:
        parser.feed(content)
        root = parser.close()
    except ElementTree.ParseError as error:
        raise UsageError(f"{message}: not XML: {error}") from None
    if is_soap:
        body = root.find(f"{{{_SOAP}}}Body") if root.tag == f"{{{_SOAP}}}Envelope" else None
        if body is None or len(body) != 1:
            raise UsageError(f"{message}: not a SOAP 1.1 envelope with one element in its body")
        root = body[0]
    if root.tag != f"{{{contract.xml_namespace}}}{message}":
        raise UsageError(f"{message}: another element: {root.tag[:100]}")
    return complete(contract, message, _read_message(contract, message, root, message))


def _read_message(contract: Contract, message: str, element: Any, path: str) -> Value:
    fields = {
        f"{{{contract.xml_namespace}}}{xml_name(field.json_name)}": field
        for field in contract.message_by_name[message].fields
    }
    done: Value = {}
    for child in element:
        field = fields.get(child.tag)
        if field is None:
            continue
        here = f"{path}.{field.name}"
        if field.map_key is not None:
            key, value = _read_entry(contract, field, child, here)
            done.setdefault(field.name, {})[key] = value
        elif field.label is Label.REPEATED:
            done.setdefault(field.name, []).append(_read_one(contract, field, child, here))
        elif field.name in done:
            raise UsageError(f"{here}: the element occurs twice")
        else:
            done[field.name] = _read_one(contract, field, child, here)
    return done


def _read_entry(contract: Contract, field: Field, element: Any, path: str) -> tuple[Any, Any]:
    assert field.map_key is not None
    key = element.find(f"{{{contract.xml_namespace}}}key")
    value = element.find(f"{{{contract.xml_namespace}}}value")
    if key is None or value is None:
        raise UsageError(f"{path}: an entry without key and value")
    with scalars.FieldPath(path):
        name = scalars.read_key(field.map_key, _text(key))
    return name, _read_one(contract, field, value, path)


def _read_one(contract: Contract, field: Field, element: Any, path: str) -> Any:
    if field.kind is Kind.MESSAGE:
        return _read_message(contract, field.type_name, element, path)
    with scalars.FieldPath(path):
        return scalars.read_text(contract, field, _text(element))


def _text(element: Any) -> str:
    if len(element):
        raise UsageError("elements where a text is expected")
    return element.text or ""

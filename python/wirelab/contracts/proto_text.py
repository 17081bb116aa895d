"""The .proto of a contract, as text that its user reads and can edit."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.contracts.names import default_json_name, entry_name
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message

_WELL_KNOWN = {Kind.TIMESTAMP: "Timestamp", Kind.DURATION: "Duration"}


def write_proto(contract: Contract, origin: str = "") -> str:
    """proto3. ``origin`` says where the contract came from: lines of a comment at the top."""
    return "\n".join(_lines(contract, origin)) + "\n"


def _lines(contract: Contract, origin: str) -> Iterator[str]:
    for line in origin.splitlines():
        yield f"// {_visible(line)}".rstrip()
    yield from ('syntax = "proto3";', "", f"package {contract.package};")
    kinds = {field.kind for message in contract.messages for field in message.fields}
    for kind in sorted(kinds & _WELL_KNOWN.keys()):
        yield from ("", f'import "google/protobuf/{kind}.proto";')
    yield from ("", f"service {contract.service} {{")
    yield f"  rpc {contract.method}({contract.request}) returns ({contract.reply});"
    yield "}"
    for message in contract.messages:
        yield from ("", *_message(contract, message))
    for enum in contract.enums:
        yield from ("", *_enum(enum))


def _visible(line: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in line)


def _message(contract: Contract, message: Message) -> Iterator[str]:
    yield f"message {message.name} {{"
    done = set[str]()
    for field in message.fields:
        if not field.oneof:
            yield f"  {_field(contract, message, field)}"
        elif field.oneof not in done:
            done.add(field.oneof)
            yield f"  oneof {field.oneof} {{"
            for member in message.fields:
                if member.oneof == field.oneof:
                    yield f"    {_field(contract, message, member)}"
            yield "  }"
    yield "}"


def _field(contract: Contract, message: Message, field: Field) -> str:
    kind = _type(contract, message, field)
    if field.map_key is not None:
        kind = f"map<{field.map_key}, {kind}>"
    elif field.label in (Label.REPEATED, Label.OPTIONAL) and not field.oneof:
        kind = f"{field.label} {kind}"
    option = ""
    if field.json_name != default_json_name(field.name):
        option = f" [json_name = {quote(field.json_name)}]"
    return f"{kind} {field.name} = {field.number}{option};"


def _type(contract: Contract, message: Message, field: Field) -> str:
    if field.kind in _WELL_KNOWN:
        # A leading dot, where the package has a part of the same name.
        dot = "." if "google" in contract.package.split(".") else ""
        return f"{dot}google.protobuf.{_WELL_KNOWN[field.kind]}"
    if field.kind not in (Kind.MESSAGE, Kind.ENUM):
        return str(field.kind)
    # The message of a map's entries hides another message of its name.
    entries = {entry_name(one.name) for one in message.fields if one.map_key is not None}
    is_hidden = field.type_name in entries
    return f".{contract.package}.{field.type_name}" if is_hidden else field.type_name


def quote(text: str) -> str:
    """A string literal: ASCII, other characters as octal escapes of their UTF-8."""
    quoted = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{quoted}"'


def _enum(enum: Enum) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    if len({number for _, number in enum.values}) < len(enum.values):
        yield "  option allow_alias = true;"
    for name, number in enum.values:
        yield f"  {name} = {number};"
    yield "}"

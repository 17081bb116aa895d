"""Writes the service in Rust of a contract: structs for serde and prost, axum and tonic."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wirelab import checkout, installation
from wirelab.contracts.codecs import avro_schema
from wirelab.contracts.names import snake_case, xml_name
from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import FLOATS, MOMENTS, has_presence, is_optional
from wirelab.generate.names import NamedEnum, give_names, pascal_case
from wirelab.generate.project import STACKS, Project
from wirelab.generate.templates import Templates
from wirelab.process.rust_programs import find_target_folder

BUILD_S = 90.0
TEMPLATES = Templates("rust")
MESSAGES = "messages.rs.j2"
"""The messages, written for each module."""
MODULES = {
    "model": "JSON, CBOR, MessagePack and Protocol Buffers have",
    "avro_model": "Avro has",
    "xml_model": "XML has",
}
"""Modules of messages, and their formats."""

SIGNED = (Kind.INT64, Kind.SINT64, Kind.SFIXED64)
UNSIGNED = (Kind.UINT64, Kind.FIXED64)
SCALARS = {
    Kind.BOOL: "bool",
    **dict.fromkeys((Kind.INT32, Kind.SINT32, Kind.SFIXED32, Kind.ENUM), "i32"),
    **dict.fromkeys((Kind.UINT32, Kind.FIXED32), "u32"),
    **dict.fromkeys(SIGNED, "i64"),
    **dict.fromkeys(UNSIGNED, "u64"),
    Kind.FLOAT: "f32",
    Kind.DOUBLE: "f64",
    Kind.STRING: "::std::string::String",
    Kind.BYTES: "::std::vec::Vec<u8>",
    Kind.TIMESTAMP: "::prost_types::Timestamp",
    Kind.DURATION: "::prost_types::Duration",
}
PROST = {
    **{kind: str(kind) for kind in Kind},
    Kind.ENUM: "int32",
    Kind.BYTES: 'bytes = "vec"',
    **dict.fromkeys(MOMENTS, "message"),
}
"""Types in the attributes of prost. An enum's value is its number on the wire."""
FORMS = {
    **dict.fromkeys(MOMENTS, "crate::values::Moment"),
    Kind.BYTES: "crate::values::Base64",
}
RECORD_FORMS = {
    **dict.fromkeys(MOMENTS, "crate::avro_values::MomentRecord"),
    **dict.fromkeys(UNSIGNED, "crate::avro_values::Bits"),
    Kind.BYTES: "crate::values::Base64",
}
"""In Avro."""
DIGITS = "crate::values::Digits"
REAL = "crate::values::Real"
PLAIN = "crate::values::Plain"

# The Rust reference, 2.3 (strict, reserved and weak keywords).
KEYWORDS = (
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum",
    "extern", "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod",
    "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "type", "unsafe", "use", "where", "while", "abstract", "become", "box", "do", "final",
    "macro", "override", "priv", "try", "typeof", "unsized", "virtual", "yield", "union", "raw",
    "safe",
)  # fmt: skip


LIBRARIES = (
    "axum", "hyper", "h2", "tokio", "tonic", "prost", "serde", "serde_json", "quick-xml",
    "ciborium", "rmp-serde", "apache-avro", "base64", "flate2", "zstd",
)  # fmt: skip
"""On the path of a call."""


def write_project(contract: Contract, proto: str, descriptors: bytes, folder: Path) -> Project:
    """Writes the sources of the service into the folder. ``proto`` is the contract's .proto."""
    names = RustNames(contract)
    context = {
        "namespace": contract.xml_namespace,
        "method": contract.method,
        "grpc_path": contract.grpc_path,
        "request": contract.request,
        "reply": contract.reply,
        "request_record": avro_schema.full_name(contract, contract.request),
        "reply_record": avro_schema.full_name(contract, contract.reply),
        "stacks": STACKS,
    }
    TEMPLATES.write_tree(folder, context, apart=frozenset({MESSAGES}))
    for module, formats in MODULES.items():
        messages = {
            "is_model": module == "model",
            "formats": formats,
            "request": names.types[contract.request],
            "reply": names.types[contract.reply],
            "messages": [RustMessage(one, names, module) for one in contract.messages],
            "enums": [NamedEnum(enum, names.types[enum.name]) for enum in contract.enums],
        }
        TEMPLATES.write(MESSAGES, folder / "src" / f"{module}.rs", messages)
    (folder / "service.proto").write_text(proto, encoding="utf-8")
    schema = avro_schema.write_schema(contract)
    (folder / avro_schema.FILE).write_text(schema, encoding="utf-8")
    return Project(
        language="rust",
        folder=folder,
        build=("env", f"CARGO_TARGET_DIR={find_target()}", "sh", "build.sh"),
        start=(str(folder.resolve() / "service"),),
        build_seconds=BUILD_S,
        libraries=read_libraries(),
    )


def find_target() -> Path:
    """Folder of built crates: that of wirelab's own services in a checkout, whose libraries are
    the same, else one in the cache for all generated services."""
    root = checkout.find()
    return find_target_folder(root) if root else installation.cache() / "rust-target"


def read_libraries() -> dict[str, str]:
    """Crates on the path of a call, with the versions that Cargo.lock pins."""
    locked = (TEMPLATES.folder / "Cargo.lock").read_text(encoding="utf-8")
    versions = dict(re.findall(r'^name = "(\S+)"\nversion = "(\S+)"$', locked, re.MULTILINE))
    return {name: versions[name] for name in LIBRARIES}


class RustNames:
    """Identifiers of a contract in Rust, the same in all modules."""

    RESERVED_TYPES = ("Request", "Reply", "Self")
    """Aliases of the modules, and the keyword among names of types."""

    def __init__(self, contract: Contract) -> None:
        types = [*contract.message_by_name, *contract.enum_by_name]
        self.types = give_names(types, pascal_case, self.RESERVED_TYPES)
        self.fields = {
            message.name: give_names([one.name for one in message.fields], snake_case, KEYWORDS)
            for message in contract.messages
        }
        self.contract = contract
        self._reached = {message.name: self._reach(message) for message in contract.messages}

    def is_recursive(self, message: str, field: Field) -> bool:
        """Whether a message would be part of itself by this field."""
        return message == field.type_name or message in self._reached[field.type_name]

    def _reach(self, message: Message) -> set[str]:
        """Messages that are parts of it, at any depth."""
        found: set[str] = set()
        pending = [message]
        while pending:
            for field in pending.pop().fields:
                is_part = field.label in (Label.SINGLE, Label.OPTIONAL)
                if field.kind is Kind.MESSAGE and is_part and field.type_name not in found:
                    found.add(field.type_name)
                    pending.append(self.contract.message_by_name[field.type_name])
        return found


@dataclass(frozen=True)
class RustMessage:
    """A message as the template sees it."""

    message: Message
    names: RustNames
    module: str

    @property
    def name(self) -> str:
        """Of the struct."""
        return self.names.types[self.message.name]

    @property
    def serde(self) -> str:
        """What serde is given. apache-avro compares the names of records."""
        if self.module != "avro_model":
            return "default"
        name = avro_schema.short_name(self.names.contract, self.message.name)
        return f"default, rename = {rust_string(name)}"

    @cached_property
    def fields(self) -> list[RustField]:
        """In the order of their numbers."""
        return [RustField(field, self) for field in self.message.fields]


@dataclass(frozen=True)
class RustField:
    """A field as the template sees it. Members of a oneof are optional fields."""

    field: Field
    of: RustMessage

    @property
    def name(self) -> str:
        """In the struct."""
        return self.of.names.fields[self.of.message.name][self.field.name]

    @property
    def number(self) -> int:
        """In the .proto."""
        return self.field.number

    @property
    def is_enum(self) -> bool:
        """Whether its numbers stay as they are."""
        return self.field.kind is Kind.ENUM

    @property
    def _is_record(self) -> bool:
        return self.of.module == "avro_model"

    @property
    def _is_many(self) -> bool:
        return self.field.label in (Label.REPEATED, Label.MAP)

    @property
    def _is_boxed(self) -> bool:
        is_part = self.field.kind is Kind.MESSAGE and not self._is_many
        return is_part and self.of.names.is_recursive(self.of.message.name, self.field)

    @property
    def type(self) -> str:
        """In the struct."""
        one = SCALARS.get(self.field.kind) or self.of.names.types[self.field.type_name]
        if self.field.map_key is not None:
            return f"::std::collections::HashMap<{SCALARS[self.field.map_key]}, {one}>"
        if self._is_many:
            return f"::std::vec::Vec<{one}>"
        part = f"::std::boxed::Box<{one}>" if self._is_boxed else one
        return f"::std::option::Option<{part}>" if has_presence(self.field) else part

    @property
    def value(self) -> str:
        """Function of its value in a digest."""
        if not has_presence(self.field):
            return "value"
        is_scalar = self.field.kind is not Kind.MESSAGE and is_optional(self.field)
        return "optional" if is_scalar else "message"

    @property
    def attributes(self) -> list[str]:
        """What prost and serde are given."""
        if self.of.module == "xml_model":
            return self._serde(xml_name(self.field.json_name))
        if self._is_record:
            return self._serde(self.field.name)
        return [self._prost, *self._serde(self.field.json_name)]

    @property
    def _prost(self) -> str:
        kind = PROST[self.field.kind]
        if self.field.map_key is not None:
            kind = f'map = "{self.field.map_key}, {kind.split(" ")[0]}"'
        elif self._is_many:
            kind += ", repeated"
        elif has_presence(self.field):
            kind += ", optional, boxed" if self._is_boxed else ", optional"
        return f'prost({kind}, tag = "{self.field.number}")'

    def _serde(self, name: str) -> list[str]:
        options = [f"rename = {rust_string(name)}"]
        # Avro writes every field.
        if has_presence(self.field) and not self._is_record:
            options.append('skip_serializing_if = "::std::option::Option::is_none"')
        if form := self._form:
            options.append(f'with = "{form}"')
        return [f"serde({', '.join(options)})"]

    @property
    def _form(self) -> str:
        """Form of its values; empty where serde's own is right."""
        is_xml = self.of.module == "xml_model"
        forms = RECORD_FORMS if self._is_record else FORMS
        one = forms.get(self.field.kind, PLAIN)
        if self.is_enum:
            form = "avro_values::Symbol" if self._is_record else "values::Named"
            enum = self.of.names.types[self.field.type_name]
            one = f"crate::{form}::<crate::model::{enum}>"
        elif self.field.kind in SIGNED + UNSIGNED and self.of.module == "model":
            one = DIGITS
        elif self.field.kind in FLOATS and is_xml:
            one = REAL
        if self.field.label is Label.MAP:
            return f"crate::values::{'Entries' if is_xml else 'Keyed'}::<{one}>"
        if one == PLAIN:
            return ""
        if self._is_many:
            return f"crate::values::Each::<{one}>"
        return f"crate::values::Maybe::<{one}>" if has_presence(self.field) else one


def rust_string(text: str) -> str:
    """A string literal."""
    escaped = "".join(
        f"\\u{{{ord(one):x}}}" if one in '"\\' or not one.isprintable() else one for one in text
    )
    return f'"{escaped}"'

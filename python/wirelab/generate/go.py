"""Writes the service in Go of a contract: structs with tags, net/http and grpc-go."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wirelab.contracts.codecs import avro_schema
from wirelab.contracts.names import xml_name
from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import (
    FLOATS,
    INTEGERS,
    MOMENTS,
    SIGNED_32,
    has_presence,
    is_optional,
)
from wirelab.generate import protobuf_plugin
from wirelab.generate.names import NamedEnum, give_names, pascal_case
from wirelab.generate.project import STACKS, Project
from wirelab.generate.templates import Templates

BUILD_S = 15.0
TEMPLATES = Templates("go")
CALLS = "calls.go.j2"
"""The rules, written for the types of each package."""
PACKAGES = ("model", "pb", "records")
"""Of Protocol Buffers (``pb``), of Avro (``records``), and of all other formats."""

SCALARS = {
    Kind.BOOL: "bool",
    **dict.fromkeys((Kind.INT32, Kind.SINT32, Kind.SFIXED32), "values.Int32"),
    **dict.fromkeys((Kind.UINT32, Kind.FIXED32), "values.Uint32"),
    **dict.fromkeys((Kind.INT64, Kind.SINT64, Kind.SFIXED64), "values.Int64"),
    **dict.fromkeys((Kind.UINT64, Kind.FIXED64), "values.Uint64"),
    Kind.FLOAT: "values.Float32",
    Kind.DOUBLE: "values.Float64",
    Kind.STRING: "string",
    Kind.BYTES: "values.Bytes",
    Kind.TIMESTAMP: "values.Timestamp",
    Kind.DURATION: "values.Duration",
}
RECORD_SCALARS = SCALARS | {
    **dict.fromkeys(INTEGERS, "int64"),
    **dict.fromkeys(SIGNED_32, "int32"),
    Kind.FLOAT: "float32",
    Kind.DOUBLE: "float64",
    Kind.BYTES: "[]byte",
}
"""Types in package records, which hamba/avro has for those of the schema."""
VALUES = {
    Kind.BOOL: "rules.Bool",
    **dict.fromkeys((*INTEGERS, Kind.ENUM), "rules.Integer"),
    **dict.fromkeys(FLOATS, "rules.Float"),
    Kind.STRING: "rules.String",
    Kind.BYTES: "rules.Bytes",
    **dict.fromkeys(MOMENTS, "rules.Moment"),
}
COPIES = {
    **dict.fromkeys((Kind.BOOL, Kind.ENUM), "rules.Same"),
    **dict.fromkeys((*INTEGERS, *FLOATS), "rules.Add"),
    Kind.STRING: "rules.AddText",
    Kind.BYTES: "rules.SameBytes",
    Kind.TIMESTAMP: "copyOfTimestamp",
    Kind.DURATION: "copyOfDuration",
}
_OWN_MOMENTS = (("Timestamp", "values.Timestamp"), ("Duration", "values.Duration"))
MOMENT_TYPES = {
    "model": _OWN_MOMENTS,
    "records": _OWN_MOMENTS,
    "pb": (("Timestamp", "timestamppb.Timestamp"), ("Duration", "durationpb.Duration")),
}
IMPORTS = {
    "values": '"service/values"',
    "rules": '"service/rules"',
    "timestamppb": '"google.golang.org/protobuf/types/known/timestamppb"',
    "durationpb": '"google.golang.org/protobuf/types/known/durationpb"',
}
TAG_PUNCTUATION = frozenset("!#$%&()*+-./;<=>?@[]^_{|}~ ")
"""What names in struct tags may have besides letters and digits, so that encoding/json and msgpack
read them (encoding/json's isValidTag, without the colon of vmihailenco/tagparser)."""


def write_project(contract: Contract, proto: str, descriptors: bytes, folder: Path) -> Project:
    """Writes the sources of the service into the folder. ``proto`` is the contract's .proto and
    ``descriptors`` a serialised FileDescriptorSet of it, imports first."""
    names = GoNames(contract)
    context = describe(contract, names)
    TEMPLATES.write_tree(folder, context, apart=frozenset({CALLS}))
    for package in PACKAGES:
        calls = context | describe_calls(contract, names, package)
        TEMPLATES.write(CALLS, folder / package / "calls.go", calls)
    (folder / "service.proto").write_text(proto, encoding="utf-8")
    schema = avro_schema.write_schema(contract)
    (folder / avro_schema.FILE).write_text(schema, encoding="utf-8")
    request = protobuf_plugin.make_request(contract, descriptors, names.rename, "service/pb")
    (folder / "pb" / "request.binpb").write_bytes(request)
    return Project(
        language="go",
        folder=folder,
        build=("sh", "build.sh"),
        start=(str(folder.resolve() / "service"),),
        build_seconds=BUILD_S,
        libraries=read_libraries(),
    )


def describe(contract: Contract, names: GoNames) -> dict[str, object]:
    """What the templates are rendered with."""
    messages = [GoMessage(message, names, "model") for message in contract.messages]
    fields = [field for message in messages for field in message.fields]
    records = [GoMessage(message, names, "records") for message in contract.messages]
    types = [field.type for message in records for field in message.fields]
    has_odd_names = any(message.has_odd_names for message in messages)
    return {
        "namespace": contract.xml_namespace,
        "request_element": contract.request,
        "reply_element": contract.reply,
        "method": contract.method,
        "service": names.service,
        "go_method": names.method,
        "request": names.types[contract.request],
        "reply": names.types[contract.reply],
        "stacks": group_codecs(STACKS),
        "request_record": avro_schema.full_name(contract, contract.request),
        "reply_record": avro_schema.full_name(contract, contract.reply),
        "messages": messages,
        "record_messages": records,
        "record_imports": [
            f'"service/{package}"'
            for package in ("model", "values")
            if any(f"{package}." in one for one in types)
        ],
        "enums": [NamedEnum(enum, names.types[enum.name]) for enum in contract.enums],
        "has_odd_names": has_odd_names,
        "uses_values": has_odd_names
        or bool(contract.enums)
        or any("values." in field.type for field in fields),
    }


def describe_calls(contract: Contract, names: GoNames, package: str) -> dict[str, object]:
    """The same for the rules of one package."""
    kinds = {field.kind for message in contract.messages for field in message.fields}
    moments = [(name, of) for name, of in MOMENT_TYPES[package] if Kind(name.lower()) in kinds]
    imports = dict.fromkeys(IMPORTS[of.split(".")[0]] for _, of in moments)
    return {
        "package": package,
        "messages": [GoMessage(message, names, package) for message in contract.messages],
        "moments": moments,
        "imports": [*imports, IMPORTS["rules"]],
    }


def group_codecs(of: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Codecs by binding."""
    grouped: dict[str, list[str]] = {}
    for binding, codec in of:
        grouped.setdefault(binding, []).append(codec)
    return grouped


def read_libraries() -> dict[str, str]:
    """Modules on the path of a call, with the versions that go.mod pins."""
    pinned = (TEMPLATES.folder / "go.mod").read_text(encoding="utf-8")
    return dict(re.findall(r"^\t(\S+) v(\S+)$", pinned, re.MULTILINE))


class GoNames:
    """Identifiers of a contract in Go, the same in every package."""

    RESERVED_FIELDS = (
        "Reset", "String", "ProtoMessage", "ProtoReflect", "Marshal", "Unmarshal", "Descriptor",
        "ExtensionRangeArray", "ExtensionMap", "XMLName", "Members", "MarshalJSON",
        "UnmarshalJSON", "MarshalCBOR", "UnmarshalCBOR", "EncodeMsgpack", "DecodeMsgpack",
    )  # fmt: skip
    """Methods of messages, and the field that encoding/xml takes for the element's name."""
    RESERVED_TYPES = ("DigestOf", "CopyOf", "Timestamp", "Duration")
    """Functions of the packages, and types of theirs."""

    def __init__(self, contract: Contract) -> None:
        self.service = go_camel_case(contract.service)
        self.method = go_camel_case(contract.method)
        service = self.service
        made = (
            service, f"{service}Client", f"{service}Server", f"Unimplemented{service}Server",
            f"Unsafe{service}Server", f"Register{service}Server", f"New{service}Client",
        )  # fmt: skip
        types = [*(message.name for message in contract.messages)]
        types += [enum.name for enum in contract.enums]
        self.types = give_names(types, pascal_case, (*self.RESERVED_TYPES, *made))
        self._fields = {message.name: self._name_fields(message) for message in contract.messages}

    def _name_fields(self, message: Message) -> dict[str, str]:
        own = [field.name for field in message.fields]
        own += dict.fromkeys(field.oneof for field in message.fields if field.oneof)
        getters = {f"Get{pascal_case(name)}" for name in own}
        return give_names(own, pascal_case, (*self.RESERVED_FIELDS, *getters))

    def field(self, message: str, name: str) -> str:
        """Name of a field or a oneof."""
        return self._fields[message][name]

    def rename(self, message: str, name: str = "") -> str:
        """What a type, or a field or oneof of it, must be called in descriptors so that
        protoc-gen-go gives it its name here."""
        chosen = self.field(message, name) if name else self.types[message]
        original = name or message
        return original if go_camel_case(original) == chosen else chosen


def go_camel_case(name: str) -> str:
    """As protoc-gen-go converts names (internal/strs.GoCamelCase in protobuf-go)."""
    begun = re.sub(r"^_([a-z]?)", lambda found: f"X{found[1].upper()}", name)
    joined = re.sub(r"_([a-z])", lambda found: found[1].upper(), begun)
    return re.sub(r"(^|(?<=[0-9]))[a-z]", lambda found: found[0].upper(), joined)


@dataclass(frozen=True)
class GoMessage:
    """A message as the templates see it."""

    message: Message
    names: GoNames
    package: str

    @property
    def name(self) -> str:
        """Of the type."""
        return self.names.types[self.message.name]

    @property
    def title(self) -> str:
        """In the .proto."""
        return self.message.name

    @cached_property
    def _all(self) -> list[GoField]:
        return [GoField(field, self) for field in self.message.fields]

    @cached_property
    def fields(self) -> list[GoField]:
        """Fields of the struct; in package pb those of oneofs are in types of their own."""
        return [field for field in self._all if self.package != "pb" or not field.field.oneof]

    @cached_property
    def oneofs(self) -> list[GoOneof]:
        """Interfaces of package pb."""
        if self.package != "pb":
            return []
        names = dict.fromkeys(field.field.oneof for field in self._all if field.field.oneof)
        return [
            GoOneof(
                self.names.field(self.message.name, name),
                [field for field in self._all if field.field.oneof == name],
            )
            for name in names
        ]

    @property
    def has_odd_names(self) -> bool:
        """Whether struct tags cannot express a name."""
        return not all(is_tag_name(field.json_name) for field in self.message.fields)


@dataclass(frozen=True)
class GoOneof:
    """A oneof of package pb."""

    name: str
    fields: list[GoField]


@dataclass(frozen=True)
class GoField:
    """A field as the templates see it."""

    field: Field
    of: GoMessage

    @property
    def name(self) -> str:
        """In the struct."""
        return self.of.names.field(self.of.message.name, self.field.name)

    @property
    def title(self) -> str:
        """In the .proto and in Avro."""
        return self.field.name

    @property
    def number(self) -> int:
        """In the .proto."""
        return self.field.number

    @property
    def type(self) -> str:
        """In packages model and records."""
        scalars = RECORD_SCALARS if self._is_record else SCALARS
        one = scalars.get(self.field.kind) or self._type_name
        if self._is_record and self.field.kind is Kind.ENUM:
            one = f"model.{one}"
        if self.is_map and self._is_record:
            return f"map[string]{one}"
        if self.is_map:
            return f"values.Map[{self._key_type}, {one}]"
        if self.is_list:
            return f"[]{one}"
        return f"*{one}" if has_presence(self.field) else one

    @property
    def _is_record(self) -> bool:
        return self.of.package == "records"

    @property
    def _type_name(self) -> str:
        return self.of.names.types[self.field.type_name]

    @property
    def _key_type(self) -> str:
        assert self.field.map_key is not None
        key = SCALARS[self.field.map_key]
        return key if key == "string" else f"values.{pascal_case(key.removeprefix('values.'))}Key"

    @property
    def tags(self) -> str:
        """Names in all formats."""
        absent = ",omitempty" if has_presence(self.field) else ""
        element = f'xml:"{xml_name(self.field.json_name)}{absent}"'
        if self.of.has_odd_names:
            return element
        text = " ".join(
            f'{codec}:"{self.field.json_name}{absent}"' for codec in ("json", "cbor", "msgpack")
        )
        return f"{text} {element}"

    @property
    def json_text(self) -> str:
        """The name in JSON as a string of Go."""
        return go_string(self.field.json_name)

    @property
    def is_map(self) -> bool:
        """Whether it is a map."""
        return self.field.label is Label.MAP

    @property
    def is_list(self) -> bool:
        """Whether it is repeated."""
        return self.field.label is Label.REPEATED

    @property
    def is_moment(self) -> bool:
        """Whether it is a timestamp or a duration."""
        return self.field.kind in MOMENTS

    @property
    def is_optional(self) -> bool:
        """Whether its absence counts."""
        return is_optional(self.field)

    @property
    def is_pointer(self) -> bool:
        """Whether it is a message or moment of its own."""
        is_one = not self.is_map and not self.is_list
        return is_one and (self.field.kind is Kind.MESSAGE or self.is_moment)

    @property
    def is_plain_bytes(self) -> bool:
        """Whether it is bytes that are absent where they are nil."""
        return self.field.kind is Kind.BYTES and self.of.package == "pb"

    @property
    def are_structs(self) -> bool:
        """Whether a list or map has structs, not pointers."""
        is_message = self.field.kind is Kind.MESSAGE or self.is_moment
        return is_message and self.of.package != "pb"

    @property
    def value(self) -> str:
        """Function of its value in a digest."""
        return VALUES.get(self.field.kind) or f"valueOf{self._type_name}"

    @property
    def key_value(self) -> str:
        """The same of a map's keys."""
        assert self.field.map_key is not None
        value = VALUES[self.field.map_key]
        is_text = self._is_record and self.field.map_key is not Kind.STRING
        return f"{value}Text" if is_text else value

    @property
    def copy(self) -> str:
        """Function that copies one value for a reply."""
        return COPIES.get(self.field.kind) or f"copyOf{self._type_name}"


def is_tag_name(name: str) -> bool:
    """Whether every library reads the name from a struct tag as it is."""
    letters = (one in TAG_PUNCTUATION or one.isalpha() or one.isdecimal() for one in name)
    return bool(name.strip(" ")) and name == name.strip(" ") and name != "-" and all(letters)


def go_string(text: str) -> str:
    """An interpreted string literal: JSON's are, except for halves of characters."""
    return json.dumps(text, ensure_ascii=False)

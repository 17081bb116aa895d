"""Fields of messages in Java: declarations, and the statements of a service's rules."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.contracts.names import xml_name
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import (
    FLOATS,
    INTEGERS,
    MOMENTS,
    UNSIGNED_32,
    UNSIGNED_64,
    has_presence,
    is_optional,
)
from wirelab.generate.java_names import literal, lower_camel, safe_values, take, upper_camel

_INT = ("int", "Integer", "")
_LONG = ("long", "Long", "")
PLAIN = {
    Kind.BOOL: ("boolean", "Boolean", ""),
    Kind.INT32: _INT, Kind.SINT32: _INT, Kind.SFIXED32: _INT,
    Kind.INT64: _LONG, Kind.SINT64: _LONG, Kind.SFIXED64: _LONG,
    Kind.UINT32: _LONG, Kind.FIXED32: _LONG, Kind.UINT64: _LONG, Kind.FIXED64: _LONG,
    Kind.FLOAT: ("float", "Float", ""),
    Kind.DOUBLE: ("double", "Double", ""),
    Kind.STRING: ("String", "String", ' = ""'),
    Kind.BYTES: ("byte[]", "byte[]", " = new byte[0]"),
    Kind.TIMESTAMP: ("Instant", "Instant", ""),
    Kind.DURATION: ("Duration", "Duration", ""),
}  # fmt: skip
"""Kind -> type of a field, type of an item, initial value. uint32 needs a long; uint64 is the
bits of one."""
_NUMBERED = INTEGERS | FLOATS | {Kind.STRING}
_WIDE = {Kind.UINT32: "Unsigned32", Kind.FIXED32: "Unsigned32",
         Kind.UINT64: "Unsigned64", Kind.FIXED64: "Unsigned64"}  # fmt: skip


@dataclass(frozen=True)
class JavaEntry:
    """The class of a map's entries in XML, nested in the message's class."""

    java_name: str
    accessor: str
    """Name of the property that JAXB has, after ``get`` or ``set``."""
    xml_type: str
    key_type: str
    value_type: str
    key_annotations: tuple[str, ...]
    value_annotations: tuple[str, ...]


@dataclass(frozen=True)
class JavaField:
    """A field as the templates need it."""

    name: str
    java_name: str
    xml_name: str
    xml_property: str
    """Name of the property in JAXB."""
    annotations: tuple[str, ...]
    declaration: str
    plain_digest: str
    plain_copy: str
    protobuf_digest: str
    protobuf_copy: str
    entry: JavaEntry | None = None


class FieldWriter:
    """Writes the fields of one message."""

    def __init__(
        self, contract: Contract, message: str, types: dict[str, str], accessors: dict[str, str]
    ) -> None:
        """``types`` has the classes of messages and enums; ``accessors`` the names that protoc
        gets for the fields."""
        self._contract = contract
        self._message = message
        self._types = types
        self._accessors = accessors
        self._taken: set[str] = set()
        self._classes = set(types.values())

    def write(self, field: Field) -> JavaField:
        """The fields come in their order."""
        name = take(lower_camel(field.name), self._taken)
        entry = self._entry(field) if field.label is Label.MAP else None
        return JavaField(
            name=field.name,
            java_name=name,
            xml_name=xml_name(field.json_name),
            xml_property=lower_camel(entry.accessor) if entry else name,
            annotations=tuple(self._annotations(field)),
            declaration=f"{self._declare_type(field)} {name}{self._initial(field)}",
            plain_digest=self._plain_digest(field, f"this.{name}"),
            plain_copy=self._plain_copy(field, name),
            protobuf_digest=self._protobuf_digest(field),
            protobuf_copy=self._protobuf_copy(field),
            entry=entry,
        )

    def _box(self, kind: Kind, type_name: str = "") -> str:
        return self._types[type_name] if kind in (Kind.ENUM, Kind.MESSAGE) else PLAIN[kind][1]

    def _item(self, field: Field) -> str:
        return self._box(field.kind, field.type_name)

    def _declare_type(self, field: Field) -> str:
        if field.map_key is not None:
            return f"Map<{self._box(field.map_key)}, {self._item(field)}>"
        if field.label is Label.REPEATED:
            return f"List<{self._item(field)}>"
        if has_presence(field) or field.kind is Kind.ENUM:
            return self._item(field)
        return PLAIN[field.kind][0]

    def _initial(self, field: Field) -> str:
        if field.label is Label.MAP:
            return " = new LinkedHashMap<>()"
        if field.label is Label.REPEATED:
            return " = new ArrayList<>()"
        if has_presence(field):
            return ""
        if field.kind is Kind.ENUM:
            names = [name for name, _ in self._contract.enum_by_name[field.type_name].values]
            return f" = {self._types[field.type_name]}.{safe_values(names)[names[0]]}"
        return PLAIN[field.kind][2]

    # -- annotations -----------------------------------------------------------

    def _annotations(self, field: Field) -> list[str]:
        found = [
            f"@JsonProperty({literal(field.json_name)})",
            f"@AvroName({literal(field.name)})",
        ]
        part = "content" if field.label in (Label.REPEATED, Label.MAP) else ""
        reads, writes = [], []
        for kind, using in ((field.map_key, "key"), (field.kind, part)):
            if kind not in _WIDE:
                continue
            read = "Key" if using == "key" else "Read"
            reads.append(f"{_prefix_using(using)} = Scalars.{read}{_WIDE[kind]}.class")
            if kind in UNSIGNED_64:
                write = "WriteKey" if using == "key" else "Write"
                writes.append(f"{_prefix_using(using)} = Scalars.{write}Unsigned64.class")
        if reads:
            found.append(f"@JsonDeserialize({', '.join(reads)})")
        if writes:
            found.append(f"@JsonSerialize({', '.join(writes)})")
        if field.label is not Label.MAP:
            found.append(f"@XmlElement(name = {literal(xml_name(field.json_name))})")
            is_list = field.label is Label.REPEATED
            primitive = not is_list and not has_presence(field)
            found += _adapter(field.kind, is_primitive=primitive)
        return found

    def _entry(self, field: Field) -> JavaEntry:
        assert field.map_key is not None
        accessor = take(f"entriesOf{upper_camel(field.name)}", self._taken)
        name = take(f"{upper_camel(field.name)}Entry", self._classes)
        return JavaEntry(
            java_name=name,
            accessor=f"{accessor[:1].upper()}{accessor[1:]}",
            xml_type=f"{self._message}.{field.name}",
            key_type=self._box(field.map_key),
            value_type=self._item(field),
            key_annotations=tuple(_adapter(field.map_key, is_primitive=False)),
            value_annotations=tuple(_adapter(field.kind, is_primitive=False)),
        )

    # -- rules over plain classes ------------------------------------------------

    def _plain_digest(self, field: Field, name: str) -> str:
        number = f"{field.number}L"
        if field.label is Label.MAP:
            assert field.map_key is not None
            entry = f"Map.Entry<{self._box(field.map_key)}, {self._item(field)}>"
            key = _plain_value(field.map_key, "entry.getKey()")
            value = _plain_value(field.kind, "entry.getValue()")
            loop = f"for ({entry} entry : {name}.entrySet()) {{"
            return _sum(f"{name}.size()", loop, (key, value), number)
        if field.label is Label.REPEATED:
            loop = f"for ({self._item(field)} item : {name}) {{"
            return _sum(f"{name}.size()", loop, (_plain_value(field.kind, "item"),), number)
        value = _plain_value(field.kind, name)
        if has_presence(field):
            return f"digest += {name} == null ? 0 : {number} * ({value}{_extra(field)});"
        return f"digest += {number} * {value};"

    def _plain_copy(self, field: Field, name: str) -> str:
        if field.label is Label.MAP:
            assert field.map_key is not None
            entry = f"Map.Entry<{self._box(field.map_key)}, {self._item(field)}>"
            value = _plain_numbered(field.kind, "entry.getValue()")
            return _lines(
                f"for ({entry} entry : this.{name}.entrySet()) {{",
                f"    copy.{name}.put(entry.getKey(), {value});",
                "}",
            )
        if field.label is Label.REPEATED:
            return _lines(
                f"copy.{name} = new ArrayList<>(this.{name}.size());",
                f"for ({self._item(field)} item : this.{name}) {{",
                f"    copy.{name}.add({_plain_numbered(field.kind, 'item')});",
                "}",
            )
        copied = _plain_numbered(field.kind, f"this.{name}")
        assign = f"copy.{name} = {copied};"
        if has_presence(field) and copied != f"this.{name}":
            return _lines(f"if (this.{name} != null) {{", f"    {assign}", "}")
        return assign

    # -- rules over protoc's classes -----------------------------------------------

    def _protobuf_digest(self, field: Field) -> str:
        number, root = f"{field.number}L", self._root(field)
        if field.label is Label.MAP:
            assert field.map_key is not None
            entry = f"Map.Entry<{_protobuf_boxed(field.map_key)}, {self._protobuf_item(field)}>"
            key = self._protobuf_value(field.map_key, "entry.getKey()")
            value = self._protobuf_value(field.kind, "entry.getValue()", field.type_name)
            getter = f"message.get{root}{_open(field)}Map()"
            loop = f"for ({entry} entry : {getter}.entrySet()) {{"
            return _sum(f"message.get{root}Count()", loop, (key, value), number)
        if field.label is Label.REPEATED:
            loop = (
                f"for ({self._protobuf_item(field)} item : "
                f"message.get{root}{_open(field)}List()) {{"
            )
            value = self._protobuf_value(field.kind, "item", field.type_name)
            return _sum(f"message.get{root}Count()", loop, (value,), number)
        getter = f"message.get{root}{_open(field)}()"
        value = self._protobuf_value(field.kind, getter, field.type_name)
        if has_presence(field):
            return f"digest += message.has{root}() ? {number} * ({value}{_extra(field)}) : 0;"
        return f"digest += {number} * {value};"

    def _protobuf_copy(self, field: Field) -> str:
        root, end = self._root(field), _open(field)
        if field.label is Label.MAP:
            assert field.map_key is not None
            entry = f"Map.Entry<{_protobuf_boxed(field.map_key)}, {self._protobuf_item(field)}>"
            value = self._protobuf_numbered(field, "entry.getValue()")
            return _lines(
                f"for ({entry} entry : message.get{root}{end}Map().entrySet()) {{",
                f"    copy.put{root}{end}(entry.getKey(), {value});",
                "}",
            )
        if field.label is Label.REPEATED:
            return _lines(
                f"for ({self._protobuf_item(field)} item : message.get{root}{end}List()) {{",
                f"    copy.add{root}{end}({self._protobuf_numbered(field, 'item')});",
                "}",
            )
        value = self._protobuf_numbered(field, f"message.get{root}{end}()")
        assign = f"copy.set{root}{end}({value});"
        if has_presence(field):
            return _lines(f"if (message.has{root}()) {{", f"    {assign}", "}")
        return assign

    def _root(self, field: Field) -> str:
        return upper_camel(self._accessors[field.name])

    def _protobuf_item(self, field: Field) -> str:
        if field.kind is Kind.MESSAGE:
            return f"contract.protobuf.{self._types[field.type_name]}"
        return _protobuf_boxed(field.kind)

    def _protobuf_value(self, kind: Kind, value: str, type_name: str = "") -> str:
        if kind is Kind.MESSAGE:
            return f"{self._types[type_name]}Rules.digest({value}) + 1"
        if kind in UNSIGNED_32:
            return f"Integer.toUnsignedLong({value})"
        return f"Digest.of({value})" if _is_digested(kind) else value

    def _protobuf_numbered(self, field: Field, value: str) -> str:
        if field.kind is Kind.MESSAGE:
            return f"{self._types[field.type_name]}Rules.copy({value}, numbering)"
        return f"numbering.add({value})" if field.kind in _NUMBERED else value


def _prefix_using(part: str) -> str:
    return f"{part}Using" if part else "using"


def _adapter(kind: Kind, *, is_primitive: bool) -> list[str]:
    if kind not in _WIDE:
        return []
    adapter = f"XmlTexts.{_WIDE[kind]}.class"
    if is_primitive:
        return [f"@XmlJavaTypeAdapter(type = long.class, value = {adapter})"]
    return [f"@XmlJavaTypeAdapter({adapter})"]


def _is_digested(kind: Kind) -> bool:
    return kind in {Kind.BOOL, Kind.FLOAT, Kind.DOUBLE, Kind.STRING, Kind.BYTES, *MOMENTS}


def _plain_value(kind: Kind, value: str) -> str:
    if kind is Kind.MESSAGE:
        return f"{value}.digest() + 1"
    if kind is Kind.ENUM:
        return f"{value}.number"
    return f"Digest.of({value})" if _is_digested(kind) else value


def _plain_numbered(kind: Kind, value: str) -> str:
    if kind is Kind.MESSAGE:
        return f"{value}.copy(numbering)"
    if kind is Kind.BYTES:
        return f"{value}.clone()"
    return f"numbering.add({value})" if kind in _NUMBERED else value


def _extra(field: Field) -> str:
    """A present optional scalar adds one; a single time does not."""
    return " + 1L" if is_optional(field) and field.kind is not Kind.MESSAGE else ""


def _protobuf_boxed(kind: Kind) -> str:
    special = {
        Kind.BYTES: "ByteString",
        Kind.ENUM: "Integer",
        Kind.TIMESTAMP: "com.google.protobuf.Timestamp",
        Kind.DURATION: "com.google.protobuf.Duration",
    }
    if kind in UNSIGNED_32:
        return "Integer"
    return special.get(kind) or PLAIN[kind][1]


def _open(field: Field) -> str:
    """Numbers of enums are read and written as such, so that unknown ones are kept."""
    return "Value" if field.kind is Kind.ENUM else ""


def _sum(count: str, loop: str, values: tuple[str, ...], number: str) -> str:
    # Each value alone: two of 32 bits would be added in 32 bits.
    return _lines(
        "{",
        f"    long sum = {count};",
        f"    {loop}",
        *(f"        sum += {value};" for value in values),
        "    }",
        f"    digest += {number} * sum;",
        "}",
    )


def _lines(*lines: str) -> str:
    return "\n".join(lines)

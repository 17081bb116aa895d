"""Names in Java for a contract's messages, enums and fields."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wirelab.generate.names import find_free
from wirelab.generate.templates import Templates

_KEYWORDS = """
abstract assert boolean break byte case catch char class const continue default do double else enum
extends final finally float for goto if implements import instanceof int interface long native new
package private protected public return short static strictfp super switch synchronized this throw
throws transient try void volatile while _ true false null
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Java Language Specification 17, sections 3.8 to 3.10."""
JAVA_LANG = frozenset(
    {"Boolean", "Class", "Double", "Enum", "Float", "IllegalArgumentException", "Integer", "Long",
     "Object", "Override", "String", "SuppressWarnings"}
)  # fmt: skip
"""Classes without an import that generated code uses, or that would hide one."""
_IMPORT = re.compile(r"^(?:{[^}]*})*import [\w.]+\.(\w+);", re.M)
_ACCESSORS = frozenset(
    {"AllFields", "CachedSize", "Class", "DefaultInstance", "DefaultInstanceForType", "Descriptor",
     "DescriptorForType", "Field", "InitializationErrorString", "OneofFieldDescriptor",
     "ParserForType", "RepeatedField", "RepeatedFieldCount", "SerializedSize", "UnknownFields"}
)  # fmt: skip
"""Accessors of every class that protoc makes, without their ``get``."""
_INHERITED = frozenset(
    {"Builder", "BuilderParent", "ExtendableBuilder", "ExtendableMessage",
     "ExtendableMessageOrBuilder", "FieldAccessorTable", "GeneratedExtension",
     "InternalOneOfEnum", "UnusedPrivateParameter"}
)  # fmt: skip
"""Classes nested in the base classes of what protoc makes, which would hide a message's."""
_OR_BUILDER = "OrBuilder"
"""Suffix of the interface that protoc makes for each message."""
_SUFFIXES = ("Builder", "Bytes", "Case", "Count", "List", "Map", "OrBuilder", "OrDefault",
             "OrThrow", "Value", "ValueList", "ValueMap")  # fmt: skip
"""What protoc appends to a field's accessors."""


def list_reserved_types() -> frozenset[str]:
    """Names of classes that generated code refers to by their simple name."""
    found = set(JAVA_LANG)
    for template in (Templates("java").folder / "src" / "contract").rglob("*.j2"):
        found.update(_IMPORT.findall(template.read_text(encoding="utf-8")))
    return frozenset(found)


def upper_camel(name: str) -> str:
    """``order_item`` becomes OrderItem; a letter after a digit becomes upper-case, as protoc has
    it."""
    parts: list[str] = []
    upper = True
    for char in name:
        if char.isascii() and char.isalpha():
            parts.append(char.upper() if upper else char)
            upper = False
        else:
            upper = True
            if char.isdigit():
                parts.append(char)
    return "".join(parts)


def lower_camel(name: str) -> str:
    """``order_item`` becomes orderItem."""
    made = upper_camel(name)
    return made[:1].lower() + made[1:]


def take(name: str, taken: set[str]) -> str:
    """A valid identifier that is not taken; from then on it is."""
    chosen = name if name and not name[0].isdigit() else f"value{name}"
    free = find_free(f"{chosen}_" if chosen in KEYWORDS else chosen, taken.__contains__)
    taken.add(free)
    return free


def take_types(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """A class for each message and enum. Files differ by more than case. ``others`` are names of
    other classes in the same packages."""
    taken = {name.lower() for name in (*list_reserved_types(), *_INHERITED, *others)}
    made: dict[str, str] = {}

    def files(name: str) -> set[str]:
        return {name.lower(), f"{name}{_OR_BUILDER}".lower()}

    for name in names:
        base = upper_camel(name) or "Message"
        base = f"Message{base}" if base[0].isdigit() else base
        made[name] = find_free(base, lambda one: not taken.isdisjoint(files(one)))
        taken.update(files(made[name]))
    return made


def safe_field_names(fields: dict[str, int]) -> dict[str, str]:
    """Names for protoc, by the fields' own names: the same, except where accessors would collide
    with others. ``fields`` has the numbers."""
    roots = {name: upper_camel(name) for name in fields}
    names: dict[str, str] = {}
    for name, number in fields.items():
        others = {root for other, root in roots.items() if other != name}
        root = roots[name]
        collides = root in others or any(_collides(root, other) for other in others)
        # Names of oneofs end in "oneof" in the descriptors.
        is_plain = re.fullmatch(r"(?!.*oneof)[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*", name)
        if collides or not is_plain or root in _ACCESSORS or name in KEYWORDS:
            names[name] = f"field_number_{number}"
        else:
            names[name] = name
    return names


def _collides(one: str, other: str) -> bool:
    return any(one == other + suffix or other == one + suffix for suffix in _SUFFIXES)


def safe_values(names: Iterable[str]) -> dict[str, str]:
    """Constants of an enum by the values' names."""
    taken: set[str] = set()
    made: dict[str, str] = {}
    for at, name in enumerate(names):
        is_plain = re.fullmatch(r"[A-Z][A-Z0-9_]*", name)
        is_free = name != "UNRECOGNIZED" and not name.endswith("_VALUE")
        made[name] = take(name if is_plain and is_free else f"CONSTANT_{at}", taken)
    return made


def literal(text: str) -> str:
    """A string literal of Java in ASCII."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    return '"' + "".join(_character(code) for code in codes) + '"'


def _character(code: int) -> str:
    if code > 0x7E:
        return f"\\u{code:04x}"
    # The compiler reads \\u escapes of line breaks and quotes as the characters themselves.
    return chr(code) if code >= 0x20 and code not in b'"\\' else f"\\{code:03o}"

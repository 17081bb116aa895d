"""Names that are made from a user's: of fields in a .proto and of elements in XML."""

from __future__ import annotations

import re
from collections.abc import Iterable

# ASCII alone: parsers differ in the other characters that a name may have. The fifth edition of
# XML 1.0 allows more than expat and Xerces, which follow the fourth.
_NCNAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NO_START = re.compile(r"[^A-Za-z_]")
_NO_REST = re.compile(r"[^A-Za-z0-9_.-]")
EMPTY_XML_NAME = "_x_"
"""Of a name without characters."""
LETTERS_MAX = 64
"""Of a name that is made here."""


def xml_name(json_name: str) -> str:
    """The element's name: the same text if it is an NCName of ASCII characters; else every other
    character as ``_xHHHH_`` for each of its UTF-16 units."""
    if _NCNAME.fullmatch(json_name):
        return json_name
    if not json_name:
        return EMPTY_XML_NAME
    first = _NO_START.sub(_escape, json_name[0])
    return first + _NO_REST.sub(_escape, json_name[1:])


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    pairs = [units[at : at + 2].hex().upper() for at in range(0, len(units), 2)]
    return "".join(f"_x{pair}_" for pair in pairs)


def find_json_name_problem(json_name: str) -> str | None:
    """Why a .proto cannot have it as an option of a field; None: it can."""
    if "\0" in json_name or re.search("[\ud800-\udfff]", json_name):
        return "has a character that a .proto cannot have"
    if json_name.startswith("[") and json_name.endswith("]"):
        return "is in brackets, which .proto files use for extensions"
    return None


def default_json_name(name: str) -> str:
    """The JSON name that protoc gives a field without an option (``created_at``: createdAt)."""
    return re.sub(r"_+(.?)", lambda found: found[1].upper(), name)


def entry_name(name: str) -> str:
    """Of the message that protoc makes of the entries of a map's field."""
    camel = default_json_name(name)
    return f"{camel[:1].upper()}{camel[1:]}Entry"


def snake_case(text: str) -> str:
    """A lower-case identifier of ASCII letters, digits and single underscores."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)
    plain = re.sub(r"[^A-Za-z0-9]+", "_", spaced).strip("_").lower()[:LETTERS_MAX].strip("_")
    if not plain:
        return "field"
    return plain if plain[0].isalpha() else f"field_{plain}"


def camel_case(text: str) -> str:
    """A type's name: ``order_items`` becomes OrderItems."""
    return "".join(part[:1].upper() + part[1:] for part in snake_case(text).split("_"))


def fold(name: str) -> str:
    """Names with the same fold collide in some language after a change of case."""
    return name.replace("_", "").lower()


class Names:
    """Gives each name once, also after a change of case."""

    def __init__(self, taken: Iterable[str] = (), json_names: Iterable[str] = ()) -> None:
        """``json_names`` of a message's fields: readers of JSON accept a field's name, too, so
        only the field with such a JSON name may have it as its name."""
        self._taken = {fold(name) for name in taken}
        self._json_names = frozenset(json_names)

    def take(self, name: str, json_name: str | None = None) -> str:
        """The name, with a number where it is taken."""
        chosen, count = name, 1
        while fold(chosen) in self._taken or (chosen in self._json_names and chosen != json_name):
            count += 1
            chosen = f"{name}_{count}"
        self._taken.add(fold(chosen))
        return chosen

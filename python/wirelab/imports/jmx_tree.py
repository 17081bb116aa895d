"""Test plans of JMeter (``.jmx``) as a tree: each element with its name, line and properties.

The format is described by JMeter's own plans: the children of an element are in the ``hashTree``
that follows it. The parser is expat, which :mod:`wirelab.parse.documents` uses for files of
unknown origin too. A document type is refused, so that there are no entities beyond XML's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from wirelab.errors import ImportLimit, UsageError
from wirelab.format.sanitize import sanitize
from wirelab.imports.source import Text

WHAT = "a test plan of JMeter (.jmx)"
BYTES_MAX = 16 * 1024 * 1024
ELEMENTS_MAX = 100_000
"""Elements of XML; a plan has some 30 for each request."""
DEPTH_MAX = 200
"""Elements within each other; two for each level of a plan."""
NAME_MAX = 80
"""Characters of a name in messages."""
_PROPERTIES = frozenset(
    {"stringProp", "boolProp", "intProp", "longProp", "floatProp", "doubleProp"}
)
_COLLECTIONS = frozenset({"elementProp", "collectionProp", "objProp"})


@dataclass(slots=True)
class _Xml:
    """An element of XML."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[_Xml] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass(slots=True)
class Element:
    """An element of a plan, or a property that has properties of its own."""

    kind: str
    """Its class, such as ``HTTPSamplerProxy``."""
    gui: str
    """The class of its form, which distinguishes kinds of configuration."""
    name: str
    place: str
    """``file:line``."""
    is_enabled: bool
    properties: dict[str, str]
    parts: dict[str, Element]
    """Properties with properties, by name; those of a list in :attr:`items`."""
    items: list[Element] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    def text(self, name: str, default: str = "") -> str:
        """A property; spaces around it do not count."""
        return self.properties.get(name, default).strip()

    def is_set(self, name: str, *, default: bool = False) -> bool:
        """Whether a property is true."""
        return self.text(name, str(default)).lower() == "true"

    def part(self, name: str) -> Element | None:
        """A property that has properties."""
        return self.parts.get(name)

    def list_items(self, *path: str) -> list[Element]:
        """The items of a list, which is a property of properties."""
        at: Element | None = self
        for name in path:
            at = at.part(name) if at else None
        return at.items if at else []

    @property
    def title(self) -> str:
        """What and where it is, for messages."""
        return f"{self.place}: {self.kind} {sanitize(self.name)[:NAME_MAX]!r}"


def read(text: Text) -> list[Element]:
    """What is at the top of a plan. Raises :class:`UsageError`."""
    root = _parse(text)
    if root.tag != "jmeterTestPlan":
        raise UsageError(
            f"{text.name}:{root.line}: the document is <{sanitize(root.tag)[:NAME_MAX]}>, not "
            "<jmeterTestPlan>",
            f"name {WHAT}",
        )
    return [one for tree in root.children if tree.tag == "hashTree" for one in _plan(tree, text)]


def _parse(text: Text) -> _Xml:
    content = text.text.encode("utf-8", "surrogatepass")
    if len(content) > BYTES_MAX:
        raise ImportLimit(
            f"{text.name}: larger than {BYTES_MAX:,} B (limit file)", "name a part of it"
        )
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    builder = _Builder(text.name, parser)
    parser.StartDoctypeDeclHandler = builder.refuse_doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.add_text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise UsageError(
            f"{text.name}:{error.lineno}: not well formed: {reason}", f"name {WHAT}"
        ) from None
    root = builder.root
    assert root is not None  # expat refuses a document without an element
    return root


class _Builder:
    """Makes the tree, within limits."""

    def __init__(self, name: str, parser: expat.XMLParserType) -> None:
        self.root: _Xml | None = None
        self._name = name
        self._parser = parser
        self._open: list[_Xml] = []
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        self._count += 1
        if self._count > ELEMENTS_MAX:
            self._refuse(line, f"more than {ELEMENTS_MAX:,} elements of XML (limit nodes)")
        if len(self._open) >= DEPTH_MAX:
            self._refuse(line, f"more than {DEPTH_MAX} levels of XML (limit levels)")
        element = _Xml(tag, attributes, line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def add_text(self, text: str) -> None:
        self._open[-1].parts.append(text)

    def refuse_doctype(self, *_: object) -> None:
        raise UsageError(
            f"{self._name}:{self._parser.CurrentLineNumber}: it declares a document type, whose "
            "entities are not read",
            f"name {WHAT}",
        )

    def _refuse(self, line: int, what: str) -> None:
        raise ImportLimit(f"{self._name}:{line}: {what}", "name a part of it")


def _plan(tree: _Xml, text: Text) -> Iterator[Element]:
    """Elements of a ``hashTree``, each with those of the one that follows it."""
    before: Element | None = None
    for one in tree.children:
        if one.tag != "hashTree":
            if before is not None:
                yield before
            before = _element(one, text)
        elif before is not None:
            before.children = list(_plan(one, text))
            yield before
            before = None
    if before is not None:
        yield before


def _element(xml: _Xml, text: Text) -> Element:
    """A node with its own properties and without its children."""
    given = xml.attributes
    made = Element(
        kind=given.get("testclass") or given.get("elementType") or xml.tag,
        gui=given.get("guiclass", ""),
        name=given.get("testname") or given.get("name") or "",
        place=f"{text.name}:{xml.line}",
        is_enabled=given.get("enabled", "true").lower() != "false",
        properties={},
        parts={},
    )
    for child in xml.children:
        name = child.attributes.get("name", "")
        if child.tag in _PROPERTIES:
            made.properties[name] = child.text
        elif child.tag in _COLLECTIONS:
            part = _element(child, text)
            made.parts[name] = part
            made.items.append(part)
    return made

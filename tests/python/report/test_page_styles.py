"""Classes of the pages: a rule for a part of the page does not also meet a row or a cell."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import wirelab

PACKAGE = Path(wirelab.__file__).parent
FOLDERS = ("report/assets", "browse", "survey/kit")
TABLE_PARTS = frozenset(
    ["table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td"]
)
TAG = re.compile(r"<([a-z][a-z0-9]*)\b((?:[^<>{]|\{\{.*?\}\}|\{%.*?%\})*)>")
CLASS = re.compile(r'class="((?:[^"{]|\{\{.*?\}\}|\{%.*?%\})*)"')
INSERTED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
WORD = re.compile(r"[a-z][\w-]*")
MADE = re.compile(r'(?:make|element)\("(\w+)", \{[^}]*?class(?:Name)?: "([^"]*)"')
"""How the scripts of reports and questionnaires create an element with a class."""
CREATED = re.compile(r'(\w+) = document\.createElement\("(\w+)"\)')
NAMED = re.compile(r'(\w+)\.className = "([^"]*)"')

Uses = dict[str, set[str]]
"""Tags of the elements that have a class, by class."""


def uses(text: str) -> Uses:
    """Every class that a template or script gives to an element."""
    found: Uses = defaultdict(set)
    for tag, attributes in TAG.findall(text):
        for value in CLASS.findall(attributes):
            # Conditions of a template hold the names of classes as strings.
            chosen = " ".join(re.findall(r"'([^']*)'", " ".join(INSERTED.findall(value))))
            literal = INSERTED.sub(" ", value)
            for name in WORD.findall(f"{literal} {chosen}"):
                found[name].add(tag)
    tags = dict(CREATED.findall(text))
    made = [*MADE.findall(text), *((tags[one], name) for one, name in NAMED.findall(text))]
    for tag, names in made:
        for name in names.split():
            found[name].add(tag)
    return found


def find_shared(found: Uses) -> dict[str, set[str]]:
    """Classes of parts of tables that other elements have too."""
    return {name: tags for name, tags in found.items() if tags & TABLE_PARTS and tags - TABLE_PARTS}


def texts() -> list[str]:
    """Every template and script of a page."""
    files = [
        file
        for folder in FOLDERS
        for file in sorted((PACKAGE / folder).rglob("*"))
        if file.suffix in {".j2", ".js"}
    ]
    assert len(files) >= 10, files
    return [file.read_text(encoding="utf-8") for file in files]


def test_a_class_of_a_table_is_not_a_class_of_another_element() -> None:
    found: Uses = defaultdict(set)
    for text in texts():
        for name, tags in uses(text).items():
            found[name] |= tags
    assert {"long", "number", "part", "unread"} <= {n for n in found if found[n] <= TABLE_PARTS}
    assert {"masthead", "bar", "below", "status"} <= {
        n for n in found if not found[n] & TABLE_PARTS
    }
    assert find_shared(found) == {}


def test_a_class_on_a_header_and_a_row_is_found() -> None:
    conditional = (
        """<div class="top"></div><tr data-id="{{ a }}" class="{{ 'b' if c else 'top' }}">"""
    )
    assert find_shared(uses(conditional)) == {"top": {"div", "tr"}}
    made = """make("div", {class: "bar"}); const row = document.createElement("td");
    row.className = "bar wide";"""
    assert find_shared(uses(made)) == {"bar": {"div", "td"}}
    assert find_shared(uses('<td class="x"></td><div class="y"></div>')) == {}


def test_a_rule_for_a_row_names_a_class_of_rows() -> None:
    """A rule that changes how an element is laid out meets tables only on phones, where a row
    becomes a list, or by a class that is made for tables."""
    names = {n for text in texts() for n, tags in uses(text).items() if tags & TABLE_PARTS}
    styles = [
        (PACKAGE / folder / name).read_text(encoding="utf-8")
        for folder, name in (("report/assets", "page.css"), ("browse", "browse.css"))
    ]
    rules = [rule for style in styles for rule in display_rules(style)]
    assert len(rules) > 10
    for selector in rules:
        subject = re.split(r"[\s>+~]+", selector.strip())[-1]
        assert not names & set(re.findall(r"\.([\w-]+)", subject)), selector
        assert re.match(r"[a-z]*", subject)[0] not in TABLE_PARTS, selector  # type: ignore[index]


def display_rules(style: str) -> list[str]:
    """Selectors outside of conditions that set ``display``."""
    flat = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    flat = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", flat)
    found = re.findall(r"([^{}]+)\{[^{}]*\bdisplay:", flat)
    return [one for selectors in found for one in selectors.split(",")]


def test_a_layout_of_rows_is_found() -> None:
    style = ".a, tr.top { display: flex } @media print { td { display: block } } p { margin: 0 }"
    assert [one.strip() for one in display_rules(style)] == [".a", "tr.top"]

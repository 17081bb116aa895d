"""Damaged documents: whatever they contain, the import succeeds or is refused with a message."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.python.importing import FILES
from wirelab.errors import UsageError
from wirelab.imports import har, jmeter, k6, openapi, postman
from wirelab.imports.experiment_text import write
from wirelab.imports.source import Text

DOCUMENTS: dict[str, tuple[Any, Any]] = {
    "openapi": (openapi, yaml.safe_load((FILES / "forge.yaml").read_text())),
    "har": (har, json.loads((FILES / "chromium.har").read_text())),
    "postman": (
        postman,
        json.loads((FILES / "collection.postman_collection.json").read_text()),
    ),
}
DAMAGE: tuple[Any, ...] = (
    *(None, 0, -1, True, 10**30, 1e308, [], {}, [1], [None], [[]], {"a": 1}, {"": ""}),
    *("", "x", "http://[", "{{a}}", "#/", "\u2028\x07", "\ud800", "a" * 300, "# : -"),
    *({"$ref": "#/paths"}, {"$ref": 1}, {"$ref": "http://["}, {"$ref": "#/paths/0/x"}),
)
SEEDS = 150
"""Of each document; 5,000 were searched when this was written."""


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield from _places(inner, (*path, key))


def _damage(document: Any, choice: random.Random) -> Any:
    made = json.loads(json.dumps(document))
    places = list(_places(made))
    for path in choice.sample(places, choice.choice((1, 1, 2, 4))):
        holder = made
        try:
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = choice.choice(DAMAGE)
        except (LookupError, TypeError):
            continue  # what was damaged before has no such place any more
    return made


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_damaged_document_is_imported_or_refused(kind: str, tmp_path: Path) -> None:
    module, document = DOCUMENTS[kind]
    imported = 0
    for seed in range(SEEDS):
        text = json.dumps(_damage(document, random.Random(seed)), indent=1)
        out = tmp_path / "a.yaml"
        try:
            chosen = module.read(Text(str(tmp_path / "none" / "a.json"), text)).choose(None)
            write(chosen, out, force=True, any_target=False)
        except UsageError as error:
            assert "would not be valid" not in str(error), seed  # noqa: PT017
        else:
            imported += 1
    # Most damage concerns one operation alone.
    assert imported > SEEDS / 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


SCRIPTS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "jmeter": (
        jmeter,
        (FILES / "shop.jmx").read_text(),
        ("-1", "1e9", "${", "${host}", "${__P(", "}", "\u2028", "http://[", "false", "a" * 300),
    ),
    "k6": (
        k6,
        (FILES / "shop.js").read_text(),
        ("-1", "1e400", "`", "${", "null", "[]", "{}", "BASE", "...", "\\u{110000}", "'", "() =>"),
    ),
}


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_damaged_script_is_imported_or_refused(kind: str, tmp_path: Path) -> None:
    """Parts between marks are left out, repeated, exchanged or replaced."""
    module, script, fragments = SCRIPTS[kind]
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "books.csv").write_bytes((FILES / "books.csv").read_bytes())
    ends = [match.end() for match in re.finditer(r"[<>{}()'\"\n]", script)]
    imported = 0
    for seed in range(SEEDS):
        choice = random.Random(seed)
        first, last = sorted(choice.sample(ends, 2))
        last = min(last, first + choice.choice((1, 20, 200)))
        part = script[first:last]
        other = choice.choice(("", part * 2, part[::-1], choice.choice(fragments)))
        text = script[:first] + other + script[last:]
        try:
            chosen = module.read(Text(str(folder / "a"), text)).choose(None)
            write(chosen, tmp_path / "a.yaml", force=True, any_target=False)
        except UsageError as error:
            assert error.message, seed  # noqa: PT017
        else:
            imported += 1
    assert 0 < imported < SEEDS

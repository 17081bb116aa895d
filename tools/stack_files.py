"""How many files a codec or a binding is in: ``python -m tools.stack_files cbor``.

Counted are hand-written files of the product whose path or code names it, without comments, tests,
documentation, dependencies and experiments. A list is an array with this name and that of another
codec or binding. Without a name, the counts of docs/add-a-stack.md are
written again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tools import marked_part
from tools.product_lines import classify

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("docs/add-a-stack.md")
PART = "counts of tools/stack_files.py"
TERMS = {
    "avro": r"avro",
    "cbor": r"cbor|ciborium",
    "connect": r"connectrpc|connect-(?:go|protocol|content)|application/connect|proto_?json"
    r'|"binding": "connect"|"grpc", "connect"|&\["connect"\]|"gaps": \{"connect"'
    r"|(?-i:(?:Binding|Mapping|Frames|Flags)::Connect\b|ContentType::Proto\b|newConnect\b"
    r"|\bconnect::|mod connect;)|/connect\.",
    "iiop": r"iiop|giop|\bcdr\b|corba|jacorb",
}
"""What code calls each codec or binding that is counted: its name, formats and libraries. The word
connect alone is mostly about connections."""
SHOWN = {
    "avro": "codec `avro` of rest, in Rust, Go and Java",
    "cbor": "codec `cbor` of rest, in Rust, Go and Java",
    "connect": "binding `connect`, in Rust and Go",
    "iiop": "binding `iiop`, in Rust and Java",
}
AREAS = {
    "table of stacks": r"crates/stack/",
    "formats of the lab's own": r"crates/wire-own/",
    "engine": r"crates/",
    "service in Rust": r"services/rust/",
    "service in Go": r"services/go/",
    "service in Java": r"services/java/",
    "front": r"python/",
}
"""Parts of the product that a stack needs before it can be measured; the first that fits counts."""
FURTHER = re.compile(
    r"crates/(trace|host|link)/|/examples/|/fuzzing|/caller/|services/go/cmd/call/|[/_]parse[/.]"
    r"|/parsers\.go|python/wirelab/(parse|facts|survey)/|python/wirelab/data/"
)
"""Parts that a stack can be measured without: captures, callers of a language, parsers alone."""
OWN_MESSAGE = re.compile(r"python/wirelab/(contracts|generate|choose|data/generate)/")
"""Services that `wirelab choose` generates for a message of a user's own; counted apart, because
wirelab's stacks are measured without them."""
_TESTS = re.compile(r"_tests?\.rs$|/tests\.rs$|Test\.java$|_test\.go$")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PYTHON_COMMENT = re.compile(r'"""(?:.*?)"""|#[^\n]*', re.DOTALL)
_TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{.*", re.MULTILINE | re.DOTALL)
LIST_MIN = 2
"""Different names that make an array a list of codecs or bindings."""


@dataclass(frozen=True)
class Found:
    """A file that names a codec or binding."""

    path: str
    area: str
    lists: int


def code_of(path: str, content: bytes) -> str:
    """What is counted of a file: empty for tests, generated files, prose, and most data."""
    name = PurePosixPath(path)
    [kind, *_] = (part[0] for part in classify(path, content))
    if name.name != "service.json" and (kind != "product" or _TESTS.search(path)):
        return ""
    text = content.decode("utf-8")
    if name.suffix == ".py":
        return _PYTHON_COMMENT.sub("", text)
    return text if name.suffix == ".json" else _COMMENT.sub("", _TEST_MODULE.sub("", text))


def names_of_table() -> list[str]:
    """Every codec and binding, in every spelling of code: ``SoapRpc``, ``soap-rpc``."""
    table = json.loads((ROOT / "python/wirelab/data/stack.json").read_text("utf-8"))
    words = {word for row in table["bindings"] for word in (row["name"], *row["codecs"])}
    return sorted(words, key=len, reverse=True)


def count_lists(name: str, code: str, names: Sequence[str]) -> int:
    """Arrays that have this name and another one."""
    every = "|".join(one.replace("-", "-?") for one in names)
    arrays = re.findall(r"\[[^\[\]]*\]", code)
    found = [
        set(map(str.lower, re.findall(rf"\b(?:{every})\b", array, re.IGNORECASE)))
        for array in arrays
    ]
    return sum(name in one and len(one) >= LIST_MIN for one in found)


def find_of_own_message(name: str, files: Iterable[tuple[str, bytes]]) -> int:
    """Number of files that name it among those of generated services."""
    pattern = re.compile(TERMS[name], re.IGNORECASE)
    return sum(
        bool(pattern.search(path) or pattern.search(content.decode(errors="replace")))
        for path, content in files
        if OWN_MESSAGE.search(path) and not path.endswith((".lock", ".sum", ".mod", ".toml"))
    )


def find(name: str, files: Iterable[tuple[str, bytes]]) -> Iterator[Found]:
    """Every file that names it in its path or code."""
    pattern = re.compile(TERMS[name], re.IGNORECASE)
    names = names_of_table()
    for path, content in files:
        area = next((area for area, folder in AREAS.items() if re.match(folder, path)), None)
        if area is None or FURTHER.search(path) or OWN_MESSAGE.search(path):
            continue
        code = code_of(path, content)
        if code and (pattern.search(code) or pattern.search(path)):
            yield Found(path, area, count_lists(name, code, names))


def list_tracked() -> Iterator[tuple[str, bytes]]:
    """The files of the checkout."""
    done = subprocess.run(("git", "ls-files"), cwd=ROOT, capture_output=True, text=True, check=True)
    for path in done.stdout.splitlines():
        if (ROOT / path).is_file():
            yield path, (ROOT / path).read_bytes()


def table() -> Iterator[str]:
    """The counts of the page, as Markdown."""
    files = list(list_tracked())
    found = {name: list(find(name, files)) for name in SHOWN}
    yield from ("", f"| part | {' | '.join(SHOWN.values())} |", "|---" * (1 + len(SHOWN)) + "|")
    counts = {name: Counter(one.area for one in found[name]) for name in SHOWN}
    for area in AREAS:
        yield f"| {area} | {' | '.join(str(counts[name][area] or '–') for name in SHOWN)} |"
    yield f"| **files** | {' | '.join(f'**{len(found[name])}**' for name in SHOWN)} |"
    lists = (sum(one.lists for one in found[name]) for name in SHOWN)
    yield f"| **lists** | {' | '.join(f'**{number}**' for number in lists)} |"
    further = " | ".join(str(find_of_own_message(name, files) or "–") for name in SHOWN)
    yield f"| further files, for services of a user's own message | {further} |"
    yield ""


def main(words: Sequence[str]) -> None:
    """Prints the files of what is named, or writes the page's table."""
    if not words:
        marked_part.replace_part(ROOT / PAGE, PART, table())
        return
    for name in words:
        found = list(find(name, list_tracked()))
        for one in found:
            print(f"{one.area:<26} {one.path}{f'  {one.lists} lists' if one.lists else ''}")
        print(f"{name}: {len(found)} files, {sum(one.lists for one in found)} lists")


if __name__ == "__main__":
    main(sys.argv[1:])

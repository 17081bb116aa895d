"""How README.md's table of stacks is made of what the services report."""

from __future__ import annotations

import pytest

from tools import stack_table
from tools.stack_table import Offer, Report
from wirelab.documents.service_ready import Library
from wirelab.records.service import OWN
from wirelab.stack.manifests import Served
from wirelab.stack.reference import Stack

REST = Served(
    binding="rest",
    codecs=("json", "text"),
    transports=("http/1.1", "http/2"),
    compression=("none", "gzip"),
)


def _ready(stack: Stack) -> Report:
    """As a service of that stack would report."""
    axes = stack.axes
    codec = OWN if axes.codec == "text" else "encoding/json"
    version = "0.1.0" if codec == OWN else "go1.26.8"
    rows = [
        Library(role="server", name="example.org/http", version="2.0.0"),
        Library(role="codec", name=codec, version=version),
    ]
    if axes.compression != "none":
        rows.append(Library(role="compression", name="compress/gzip", version="go1.26.8"))
    return Report(axes.language, "go1.26.8", tuple(rows))


def _make_table(*offers: Offer) -> str:
    return "\n".join(stack_table.make_tables(offers, _ready))


def test_a_cell_is_server_and_codec_with_the_versions_that_are_pinned() -> None:
    """The runtime's version is the machine's, and would differ on the next one."""
    text = _make_table(Offer("go", REST, "json"), Offer("go", REST, "text"))
    server = "`example.org/http` 2.0.0"
    assert f"| `rest` | `json` | {server} / `encoding/json` (Go) |" in text
    assert f"| `rest` | `text` | {server} / lab's own |" in text
    assert "1.26" not in text


@pytest.mark.parametrize(
    ("runtime", "version", "part"),
    [
        ("go1.26.8", "go1.26.8", True),
        ("OpenJDK 64-Bit Server VM 17.0.15+6-Debian", "17.0.15+6-Debian", True),
        ("cpython3.11.2", "3.11.2", True),
        ("rustc 1.95.0", "5.0", False),
        ("go1.26.8", "26.8", False),
    ],
)
def test_a_part_of_the_runtime_has_the_runtimes_version(
    runtime: str, version: str, part: bool
) -> None:
    library = Library(role="server", name="a", version=version)
    shown = Report("x", runtime, (library,)).name_libraries([library])
    assert shown == ("`a` (standard library)" if part else f"`a` {version}")


def test_variants_are_shown_by_what_they_add() -> None:
    text = _make_table(Offer("go", REST, "json"))
    assert "| gzip | `compress/gzip` (Go) |" in text
    assert "| HTTP/2 | – |" in text
    assert "| TLS | – |" in text


def test_a_language_without_the_codec_has_an_empty_cell() -> None:
    text = _make_table(Offer("go", REST, "json"), Offer("rust", REST, "text"))
    assert "| binding | codec | Rust | Go |" in text
    assert "| `rest` | `text` | `example.org/http` 2.0.0 / lab's own | – |" in text


def test_a_page_without_its_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="put both back"):
        stack_table.replace_tables("no marker here", [])

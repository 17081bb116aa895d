"""Commands start at once: what each has imported by its end, and that it takes no second."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click
import pytest

import wirelab
from wirelab.cli import COMMANDS, GROUPS, Entry, app, main

HEAVY = {
    *("numpy", "scipy", "matplotlib", "pydantic", "jinja2"),
    *("rich", "jsonschema", "yaml", "typer"),
    *("google", "cbor2", "msgpack"),
}
"""Nothing that help and a usage error need."""
WORKING = {
    "numpy",
    "scipy",
    "matplotlib",
    "pydantic",
    "rich",
    "typer",
    "google",
    "cbor2",
    "msgpack",
}
"""Nothing that driving, dissecting and wrapping need."""
CPU_S_MAX = 2.0
"""Twenty times what help takes: no machine is so slow, and no import of scipy so fast."""
ROOT = Path(__file__).parents[3]
SNAPPED = ROOT / "crates/trace/corpus/capture/snapped.pcapng"

LOOK = """
import json, sys, time
from wirelab.cli import main
code = main(sys.argv[1:])
roots = sorted({name.partition(".")[0] for name in sys.modules})
sys.stderr.write("\\n" + json.dumps([code, roots, time.process_time()]))
"""
"""Runs a command; its last line has the exit code, what was imported, and CPU seconds."""


def _run_and_look(*words: str) -> tuple[int, set[str], float]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    code, roots, cpu_s = json.loads(done.stderr.splitlines()[-1])
    return code, set(roots), cpu_s


@pytest.mark.parametrize("words", [("--help",), ("--version",), (), ("nosuch",)])
def test_the_program_itself_imports_no_command(words: tuple[str, ...]) -> None:
    code, roots, cpu_s = _run_and_look(*words)
    assert code == (0 if words[:1] in (("--help",), ("--version",)) else 2)
    assert not roots & HEAVY
    assert cpu_s < CPU_S_MAX


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS])
def test_help_and_a_wrong_option_need_nothing_heavy(name: str) -> None:
    for option, expected in (("--help", 0), ("--nosuch", 2)):
        code, roots, cpu_s = _run_and_look(name, option)
        assert code == expected
        assert not roots & HEAVY
        assert cpu_s < CPU_S_MAX


@pytest.mark.parametrize(
    "words",
    [
        ("demo", "--retry-failed"),
        ("reproduce", "nosuch"),
        ("drive", "http://127.0.0.1:1/", "--poisson"),
        ("drive", "rest@rust?codec=nosuch"),
        ("drive", "http://127.0.0.1:1/", "--duration", "3"),
        ("dissect", "nosuch"),
        ("wrap", "--link", "nosuch", "--", "true"),
        ("wrap", "--", "true"),
        ("verify",),
        ("report", "nosuch"),
        ("schema", "nosuch"),
    ],
)
def test_a_refused_command_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    code, roots, _ = _run_and_look(*words)
    assert code == 2
    assert not roots & HEAVY


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("real_engine")
def test_driving_loads_no_library_of_figures(url: str) -> None:
    """Also where the window is long enough to be judged, and for a service of the lab."""
    for words in ((url, "--duration", "1s"), ("rest@rust", "--calls", "10")):
        code, roots, _ = _run_and_look("drive", *words)
        assert code == 0
        assert not roots & WORKING


@pytest.mark.usefixtures("real_engine")
def test_dissecting_a_file_loads_no_library_of_figures() -> None:
    for words in ((), ("--json",), ("--timeline", "1")):
        code, roots, _ = _run_and_look("dissect", str(SNAPPED), *words)
        assert code == 0
        assert not roots & WORKING


@pytest.mark.usefixtures("real_engine")
def test_wrapping_loads_no_library_of_figures(url: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("packets cannot be captured: not root")
    fetch = f"import urllib.request; urllib.request.urlopen({url!r}).read()"
    port = url.rpartition(":")[2].strip("/")
    code, roots, _ = _run_and_look("wrap", "--port", port, "--", sys.executable, "-c", fetch)
    assert code == 0
    assert not roots & WORKING


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_list_of_commands_has_the_first_sentence_of_each(entry: Entry) -> None:
    command = app.get_command(click.Context(app), entry.name)
    assert command is not None
    assert command.name == entry.name
    assert " ".join((command.help or "").split()).startswith(entry.about)


def test_the_list_of_commands_is_grouped_by_purpose(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 80
    heads = [line.removesuffix(":") for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert heads == ["Options", *GROUPS]
    listed = [match[1] for line in lines if (match := re.match(r"  ([a-z]+)  +[A-Z]", line))]
    assert listed == [entry.name for entry in COMMANDS]
    assert len(set(listed)) == len(listed)
    assert {entry.name for entry in GROUPS["Measure"]} == {
        "demo",
        "run",
        "choose",
        "drive",
        "limit",
    }


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS])
def test_help_fits_eighty_columns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) < 80


def test_the_reference_of_commands_has_the_same_groups() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    front = page.partition("\n## ")[0]
    found = re.findall(r"^(?:\*\*(.+)\*\*:|\* `([a-z]+)`: )", front, re.MULTILINE)
    assert [title or name for title, name in found if title not in ("Usage", "Options")] == [
        text for title, entries in GROUPS.items() for text in (title, *(e.name for e in entries))
    ]


def test_the_version_is_that_of_the_package() -> None:
    assert wirelab.__version__ == metadata.version("wirelab")


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import wirelab; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(re.findall(r"'([^']+)'", done.stdout)) <= {"wirelab", "__future__"}

"""Folders of run directories that somebody wrote to mislead, block or break a reader."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.python.synthetic_run import GRPC, HOSTILE, REST, World, remove_histograms, trials
from tests.python.synthetic_run import write_run as _write_run
from wirelab.records.line import to_line
from wirelab.records.trial import Trial
from wirelab.run.directory import LOCK

SMALL = World(sizes=(14,), repeats=3)
SLOWER = replace(SMALL, seed=2, call_us={REST: 60.0, GRPC: 84.0 * 1.5})
SECRET = "a secret outside of the folder"
NAMES = (
    b'<img src=x onerror="alert(1)">',
    b"quote\"s and 'more'",
    b"two\nlines\tand\x1b[31m colours",
    b"%2e%2e%2f%2e%2e%2fetc",
    b"a\\..%00..",
    b"not \xff\xfe UTF-8",
    b"\xe2\x80\xae desrever",
    b"long-" + b"x" * 250,
    b"-rf",
    b"{{ 7 * 7 }}",
)
"""Names of directories; every byte but NUL and the slash is legal in one."""
DEEP = "[" * 100_000
LINE = json.dumps(to_line([remove_histograms(trials(SMALL)[0])]))
DAMAGED: dict[str, str | bytes] = {
    "half-written line in the middle": LINE[:400] + "\n" + LINE + "\n",
    "a list": "[]\n" + LINE + "\n",
    "no trial": "{}\n",
    "nested too deeply": DEEP + "\n" + LINE + "\n",
    "deep last line": DEEP + "\n",
    "wrong types": LINE.replace('"repeat": 0', '"repeat": {}').replace('"order"', '"odrer"') + "\n",
    "not text": b"\xff\xfe\x00\x01\n" + LINE.encode() + b"\n",
    "infinite": LINE.replace('"rate_per_s": ', '"rate_per_s": -Infinity, "x": ') + "\n",
    "leads out": LINE.replace('"id": "', '"id": "../../../') + "\n",
    "NUL": LINE.replace('"id": "', '"id": "\\u0000') + "\n",
}
"""Journals, each damaged in one way."""


def write_run(folder: Path, every: list[Trial], **manifest: Any) -> Path:
    """A run directory that notes the number of its trials, with these other values."""
    made = _write_run(folder, every, repeats=3)
    path = made / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "trials_planned": len(every), **manifest}))
    return made


def sessions_of_day(day: int) -> list[dict[str, str]]:
    """The sessions of a run of that day of May 2024."""
    return [{"started": f"2024-05-{day:02d}T10:00:00.000+00:00"}]


def write_hostile(root: Path) -> None:
    """All of it, and one harmless run named ``good``."""
    every = trials(SMALL)
    write_run(root / "good", every, sessions=sessions_of_day(2))
    for raw in NAMES:
        folder = root / os.fsdecode(raw)
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_bytes((root / "good" / "manifest.json").read_bytes())
        (folder / "trials.jsonl").write_bytes((root / "good" / "trials.jsonl").read_bytes())
    for name, content in DAMAGED.items():
        folder = write_run(root / "damaged" / name.replace(" ", "-"), every[:1])
        data = content if isinstance(content, bytes) else content.encode()
        (folder / "trials.jsonl").write_bytes(data)
    _write_manifests(root / "manifests")
    _write_links(root)


def _write_manifests(folder: Path) -> None:
    contents = {
        "empty": "",
        "list": "[]",
        "deep": DEEP,
        "later": '{"format": 999}',
        "text": "\x00",
        "types": '{"format": 1, "experiment": []}',
    }
    for name, content in contents.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "manifest.json").write_text(content)
    for marker in ("study.json", "limit.json", "explanation.json", "wrap.json"):
        for name, content in contents.items():
            inside = folder / f"{marker}-{name}"
            inside.mkdir()
            (inside / marker).write_text(content)


def _write_links(root: Path) -> None:
    """Links that lead out, and a pipe that blocks whoever opens it."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text(SECRET)
    write_run(outside / "run", trials(SMALL)[:2])
    every = trials(SMALL)[:4]
    (root / "linked-folder").symlink_to(outside / "run")
    (root / "loop").symlink_to(root)
    for name in ("manifest.json", "trials.jsonl", "report.html"):
        folder = write_run(root / f"linked-{name}", every)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(outside / "secret")
    folder = write_run(root / "linked-trials", every)
    log = folder / "trials" / every[0].id / "histograms.hlog"
    log.unlink()
    log.symlink_to(outside / "secret")
    for name in ("manifest.json", "trials.jsonl", "report.html", LOCK):
        folder = write_run(root / f"pipe-{name}", every)
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    folder = write_run(root / "hostile-values", every)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["experiment"] |= {"name": HOSTILE, "about": HOSTILE}
    manifest["sessions"] = [{"started": HOSTILE}]
    manifest["machine"] = {"cpu": HOSTILE, "kernel": HOSTILE}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    written = '<script src="/browse.js"></script><script>alert(1)</script>'
    (folder / "report.html").write_text(written)

"""What `wirelab mcp` accepts, and how it bounds its output; without the SDK."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest

from wirelab import installation
from wirelab.cli import mcp_server
from wirelab.cli.mcp_server import bounds, own_names, tools
from wirelab.cli.mcp_server.bounds import Made, limit_size
from wirelab.cli.mcp_server.limits import Limits
from wirelab.cli.mcp_server.lines import LINE_BYTES_MAX, Lines, Replies
from wirelab.cli.options.mcp import LimitOptions, PermissionOptions
from wirelab.errors import UsageError
from wirelab.experiment import matrix

ARGUMENTS: dict[str, dict[str, Any]] = {
    "drive": {"target": "rest@rust"},
    "compare": {"a": "rest@rust", "b": "grpc@rust"},
    "dissect": {"source": "capture.pcap"},
    "report": {"directory": "run"},
}
"""The fewest for each tool."""


def limits(root: Path, *hosts: str, **other: Any) -> Limits:
    values = {name: field.default for name, field in LimitOptions.__dataclass_fields__.items()}
    return Limits.of(PermissionOptions(root, hosts), LimitOptions(**{**values, **other}))


def test_limits_reach_the_worker_unchanged(tmp_path: Path) -> None:
    given = limits(tmp_path, "Example.test", users=3)
    assert given.hosts == ("example.test",)
    assert Limits.from_json(json.loads(json.dumps(given.to_json()))) == given


@pytest.mark.parametrize("options", [{"duration": "0s"}, {"time": "soon"}])
def test_a_limit_that_is_not_a_time_is_refused(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"--(duration|time)"):
        limits(tmp_path, **options)


def test_a_root_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--root"):
        limits(tmp_path / "nothing")


def test_paths_stay_below_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "runs").mkdir(parents=True)
    (root / "inside").symlink_to("runs")
    (root / "outside").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    given = limits(root)
    assert given.path("x", "inside/a") == Path("runs/a")
    assert given.path("x", str(root / "runs")) == Path("runs")
    for outside in ("..", "runs/../..", "/", "outside/file", str(tmp_path), "/proc/self/root"):
        with pytest.raises(UsageError, match="outside"):
            given.path("x", outside)
    for impossible in ("a\0b", "loop"):
        with pytest.raises(UsageError, match="is not a path"):
            given.path("x", impossible)


def test_only_loopback_and_allowed_hosts_are_loaded(tmp_path: Path) -> None:
    given = limits(tmp_path, "192.0.2.1", "2001:db8::1")
    for local in ("rest@rust", "http://127.0.0.1:80/", "http://127.9.9.9/", "http://[::1]:80/"):
        assert given.remote_host(local) is None
    assert given.remote_host("http://192.0.2.1:8080/") == "192.0.2.1"
    assert given.remote_host("https://[2001:db8::1]/") == "2001:db8::1"
    for other in (
        *("http://192.0.2.2/", "http://198.18.0.1/", "http://0.0.0.0/", "http://169.254.169.254/"),
        *("http://[2001:db8::2]/", "http://[::ffff:192.0.2.2]/", "http://192.0.2.1.:80@10.0.0.1/"),
    ):
        with pytest.raises(UsageError, match=r"not on loopback|user name"):
            given.remote_host(other)


def test_the_connections_of_a_stack_are_limited(tmp_path: Path) -> None:
    given = limits(tmp_path, users=10)
    assert given.remote_host("grpc@rust?connection=pool=10&in_flight=multiplex=10") is None
    for above in ("rest@rust?connection=pool=11", "grpc@rust?in_flight=multiplex=11"):
        with pytest.raises(UsageError, match="is above 10, the limit of this server"):
            given.remote_host(above)


def test_a_name_is_allowed_or_refused_by_what_it_resolves_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(*_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert limits(tmp_path, "192.0.2.7").remote_host("http://shop.test/") == "shop.test"
    assert limits(tmp_path, "SHOP.test").remote_host("http://Shop.Test/") == "shop.test"
    with pytest.raises(UsageError, match="--allow-host localhost"):
        limits(tmp_path).remote_host("http://localhost/")


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_every_parameter_is_described_and_bounded(tool: str, tmp_path: Path) -> None:
    schema = tools.input_schema(tool, limits(tmp_path, users=7))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator.check_schema(tools.output_schema(tool))
    jsonschema.validate(ARGUMENTS[tool], schema)
    for name, entry in schema["properties"].items():
        assert entry["description"], name
        kinds = [entry, *entry.get("anyOf", ())]
        if any(kind.get("type") in ("number", "integer") for kind in kinds):
            assert name in ("in_flight", "port", "exchange", "size_bytes") or any(
                "maximum" in kind for kind in kinds
            ), name
    if "users" in schema["properties"]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**ARGUMENTS[tool], "users": 8}, schema)


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("drive", {"users": 10**400}, "users is above 1,000, the limit of this server"),
        ("drive", {"connections": 1_001}, "connections is above 1,000,"),
        ("drive", {"connections": 101, "in_flight": 10}, "connections x in_flight is above 1,000"),
        ("drive", {"users": 0}, "users: Input should be greater"),
        ("drive", {"users": "3"}, "users: Input should be a valid integer"),
        ("drive", {"users": True}, "users: Input should be a valid integer"),
        ("drive", {"rate": 1e308}, "rate is above 100,000, .*\n.*--rate"),
        ("drive", {"rate": float("nan")}, "rate: Input should be a finite"),
        ("drive", {"duration_s": 61}, "duration_s is above 60, .*\n.*--duration"),
        ("drive", {"duration_s": -1.0}, "duration_s: "),
        ("drive", {"warmup_s": 1e9}, "warmup_s is above 60"),
        ("drive", {"timeout_s": 61.0}, "timeout_s: "),
        ("drive", {"calls": 10**9}, "calls is above 1,000,000, .*\n.*--calls"),
        ("drive", {"size_bytes": 2**40}, "size_bytes: "),
        ("drive", {"target": None}, "target: "),
        ("drive", {"target": "x" * 3_000}, "target: "),
        ("drive", {"headers": {"a": 1}}, "headers.a: "),
        ("drive", {"headers": dict.fromkeys(map(str, range(51)), "")}, "headers: "),
        ("drive", {"body": "x" * 1_000_001}, "body: "),
        ("drive", {"report": "/etc/passwd"}, "report: drive has no such parameter. Known: .*users"),
        ("compare", {"pairs": 3}, "pairs: compare has no such parameter. Did you mean 'pairs_max'"),
        ("compare", {"a": "rest@rust", "link": "/etc/passwd"}, "link: Input should be 'loopback'"),
        ("compare", {"b": {"command": ["true"]}}, "b: Input should be a valid string"),
        ("compare", {"pairs_max": 1_001}, "pairs_max: "),
        ("compare", {"directory": "../x"}, "directory: .* is outside"),
        ("dissect", {"source": "/etc/passwd"}, "source: .* is outside"),
        ("dissect", {"port": 65_536}, "port: "),
        ("report", {"directory": "/"}, "directory: .* is outside"),
        ("remove", {}, "there is no tool 'remove'"),
    ],
)
def test_other_arguments_are_refused_by_name(
    tool: str, arguments: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        tools.accept(tool, {**ARGUMENTS.get(tool, {}), **arguments}, limits(tmp_path))
    assert len(str(refused.value)) < 2_000


def test_a_missing_parameter_is_named_with_its_meaning(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="b: this parameter is required: service B"):
        tools.accept("compare", {"a": "rest@rust"}, limits(tmp_path))


@pytest.mark.parametrize(
    ("tool", "message", "shown"),
    [
        (
            "compare",
            "12 more pairs may decide (--pairs).",
            "12 more pairs may decide (`pairs_max`).",
        ),
        (
            "drive",
            "give a longer --timeout or --in-flight 2",
            "give a longer `timeout_s` or `in_flight` 2",
        ),
        ("drive", "use --any-target", "use --any-target"),
        (
            "drive",
            "give less, or start the server with another --users",
            "give less, or start the server with another --users",
        ),
        (
            "compare",
            f"rest@go has no cdr.\nexperiment compare-a-b: {matrix.REMEDY}",
            f"rest@go has no cdr.\n{own_names.OTHER_CHOICE}",
        ),
    ],
)
def test_messages_name_parameters_not_options(tool: str, message: str, shown: str) -> None:
    assert own_names.translate(tool, message) == shown


@pytest.mark.parametrize(
    ("tool", "options", "problem"),
    [
        ("drive", {"duration": "1s"}, "duration_s is above 1, the limit of this server"),
        ("compare", {"users": 4}, "users is above 4, the limit of this server"),
        ("compare", {"duration": "1s"}, "duration_s is above 1, the limit of this server"),
    ],
)
def test_the_limits_hold_for_the_default_of_a_parameter(
    tool: str, options: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=problem):
        tools.accept(tool, ARGUMENTS[tool], limits(tmp_path, **options))


def test_a_default_that_has_no_effect_is_not_limited(tmp_path: Path) -> None:
    small = limits(tmp_path, users=4, duration="2s")
    tools.accept("drive", {**ARGUMENTS["drive"], "calls": 10}, small)
    tools.accept("compare", {**ARGUMENTS["compare"], "rate": 10.0}, small)


def test_links_inside_a_folder_stay_below_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "run" / "trials" / "x").mkdir(parents=True)
    (root / "run" / "again").symlink_to("trials")
    given = limits(root)
    assert given.tree("x", "run") == Path("run")
    assert given.tree("x", "new") == Path("new")
    link = root / "run" / "trials" / "x" / ".report.html.unfinished"
    link.symlink_to(tmp_path / "file")
    for folder in ("run", "."):
        with pytest.raises(UsageError, match=r"x: '.*report.html.unfinished' is outside"):
            given.tree("x", folder)


def _bytes(result: dict[str, Any]) -> int:
    return len(json.dumps(result, ensure_ascii=False).encode())


def test_a_small_result_is_returned_whole(tmp_path: Path) -> None:
    made = Made("text", {"cells": [1, 2, 3]}, 5)
    assert limit_size("report", made, limits(tmp_path)) == {
        "text": "text",
        "structured": {
            "document": {"cells": [1, 2, 3]},
            "exit_code": 5,
            "cut": [],
            "whole": None,
        },
    }
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "document",
    [
        {"cells": [{"id": number, "values": list(range(200))} for number in range(500)]},
        {"text": "ä" * 100_000, "more": ["\ud800"]},
        [[["x" * 400] * 50] * 50] * 50,
        {f"key {number}": [number] * 101 for number in range(90)},
        {"x" * 10_000: ["y" * 10_000] * 101},
        {str(number): number for number in range(10_000)},
    ],
)
def test_a_large_result_is_cut_stated_and_kept(document: Any, tmp_path: Path) -> None:
    made = Made("line\n" * 5_000, document, 0)
    result = limit_size("report", made, limits(tmp_path))
    assert _bytes(result) < 20_000
    structured = result["structured"]
    assert structured["cut"]
    whole = json.loads((tmp_path / structured["whole"]).read_text())
    assert whole == json.loads(json.dumps(document))
    note = result["text"].splitlines()[-1]
    assert (tmp_path / note.split()[4]).read_text() == made.text


def test_cut_lists_are_named_with_their_lengths(tmp_path: Path) -> None:
    document = {"cells": [{"samples": list(range(1_000))}] * 40, "name": "x"}
    structured = limit_size("report", Made("", document, 0), limits(tmp_path))["structured"]
    assert len(structured["document"]["cells"]) == 30
    assert structured["cut"][0] == "cells: 30 of 40"
    assert structured["cut"][1] == "cells.0.samples: 30 of 1000"
    assert structured["document"]["name"] == "x"


def test_no_file_is_written_outside_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "runs").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="outside"):
        limit_size("report", Made("", ["x"] * 100_000, 0), limits(root))
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


def _read(content: bytes) -> tuple[list[str], list[dict[str, Any]]]:
    """The messages, and the answers to what is none."""
    answered, answers = os.pipe()

    async def lines() -> list[str]:
        return [line async for line in Lines(reader, Replies(answers))]

    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        view = memoryview(content)
        while view:
            view = view[os.write(writer, view) :]
        os._exit(0)
    os.close(writer)
    try:
        found = anyio.run(lines)
    finally:
        os.close(reader)
        os.wait()
    written = os.read(answered, 1 << 16).decode() if _is_readable(answered) else ""
    os.close(answered)
    os.close(answers)
    return found, list(map(json.loads, written.splitlines()))


def _is_readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


def test_lines_are_split_decoded_and_bounded() -> None:
    long = b"x" * (LINE_BYTES_MAX + 100_000)
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    content = ping + b"\n\xff\xfe\n" + long + b"\n" + ping + b"unfinished"
    messages, answers = _read(content)
    assert messages == [ping.decode()] * 2
    assert [(one["id"], one["error"]["code"]) for one in answers] == [(None, -32700)] * 2


@pytest.mark.parametrize(
    ("line", "code", "given", "reason"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"n":' + b"1" * 5_000 + b"}}", -32700, 7,
         "it is not JSON"),
        (b'{"jsonrpc":"2.0","method":"x","id":"q","params":{"n":"' + b"x" * 10_000_000 + b'"}}',
         -32700, "q", "the line has more than"),
        (b'{"jsonrpc":"2.0","id":8,"method":"x","params":{"n":"\\ud800"}}', -32600, 8,
         "half a character"),
        (b'{"params":{"id":9},"id":' + b"1" * 5_000 + b"}", -32700, None, "it is not JSON"),
        (b'{"jsonrpc":"2.0","id":true,"method":5}', -32600, None, "not a JSON-RPC 2.0 message"),
        (b"[" * 100_000, -32700, None, "it is not JSON"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_a_message_is_answered_with_its_id(
    line: bytes, code: int, given: object, reason: str
) -> None:
    messages, (answer,) = _read(line + b"\n")
    assert messages == []
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", given)
    assert answer["error"]["code"] == code
    assert reason in answer["error"]["message"]


def test_without_the_sdk_the_message_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=re.escape(installation.extra("mcp"))):
        mcp_server.run(PermissionOptions(tmp_path), LimitOptions())


def test_a_terminal_is_refused_as_a_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(UsageError, match="is a terminal"):
        mcp_server.run(PermissionOptions(tmp_path), LimitOptions())


def test_the_bounds_leave_room_for_the_notes() -> None:
    longest = bounds.NOTES_MAX * (bounds.NOTE_CHARACTERS_MAX + 40)
    assert bounds.TEXT_BYTES_MAX + bounds.DOCUMENT_BYTES_MAX + longest <= 20_000

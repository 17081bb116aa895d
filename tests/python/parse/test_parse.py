"""`wirelab parse` without a process: parsers, documents, order, figures, page."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from tools import parsers_page
from wirelab import checkout
from wirelab.cli import main
from wirelab.cli.output import parse as output
from wirelab.errors import BuildError, TrialFailed, UsageError
from wirelab.parse import catalogue, documents, harness, results, trials
from wirelab.parse.catalogue import ALL
from wirelab.parse.harness import Timed, Times, Windows
from wirelab.parse.trials import Plan, Trials
from wirelab.process import builds
from wirelab.process.interruption import Interruption

ROOT = Path(__file__).resolve().parents[3]
SQUEEZED = {
    "reserve": 471,
    "debitReservation": 524,
    "directDebit": 479,
    "creditControl": 452,
    "credit": 469,
    "releaseRes": 452,
    "confirmAction": 456,
}
"""Sizes without indentation of the fact sheet of elfwing2002, section 3."""
LAUGHS = "<!DOCTYPE a [<!ENTITY b 'lol'>" + "".join(
    "<!ENTITY {} '{}'>".format("b" * n, ("&" + "b" * (n - 1) + ";") * 10) for n in range(2, 10)
)


def make_timed(mean_ns: float, seen: str = "", name: str = "a") -> Timed:
    one = Times(name, seen, 10, int(mean_ns * 10), (mean_ns,))
    return Timed("class", "library 1", "runtime 2", 1_000_000, 5, True, (one,))


def test_the_messages_have_the_sizes_of_the_study() -> None:
    assert {one.name: len(one.forms["xml"]) for one in documents.messages()} == SQUEEZED


def test_every_format_of_a_message_has_the_same_fields() -> None:
    table = json.loads((ROOT / "python/wirelab/data/parse/messages.json").read_text())
    for one in documents.messages():
        fields = table[one.name]["fields"]
        assert json.loads(one.forms["json"]) == fields
        assert one.forms["cdr"] == b"".join(v.to_bytes(4, "big") for v in fields.values())
        assert len({one.fingerprints[form] for form in catalogue.FORMATS}) == 1
        for name, value in fields.items():
            text = f'<{name} xsi:type="xsd:int">{value}</{name}>'
            assert text.encode() in one.forms["xml"]


def test_the_fingerprint_depends_on_content_alone() -> None:
    same = documents.fingerprint(b"<p:a xmlns:p='u' y='2' x='1'>1<![CDATA[2]]>&#51;<b/></p:a>")
    assert same == documents.fingerprint(
        b'<a xmlns="u" x="1" y="2">12<!-- -->3<b xmlns=""></b></a>'
    )
    for other in (b"<a x='1' y='2'>123<b/></a>", b"<p:a xmlns:p='u' y='2'>123<b/></p:a>"):
        assert same != documents.fingerprint(other)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not well formed"),
        (b"<a><b></a>", "not well formed at line 1"),
        (b"<a>&unknown;</a>", "not well formed"),
        (b"<p:a/>", "not well formed"),
        (b"\xff<a/>", "not UTF-8"),
        (b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "encoding ISO-8859-1"),
        (b"<?xml version='1.1'?><a/>", "XML 1.1"),
        (b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/x.dtd'><a/>", "DOCTYPE"),
        (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>", "DOCTYPE"),
        (f"{LAUGHS}]><a>&bbbbbbbbb;</a>".encode(), "DOCTYPE"),
        (b"<a>" * 2000 + b"</a>" * 2000, "nested deeper than 1,000"),
    ],
)
def test_a_file_that_is_not_given_to_parsers_is_refused(
    tmp_path: Path, content: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.xml"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        documents.files([file])
    assert main(["parse", str(file)]) == 2
    assert "x.xml" in capsys.readouterr().err


def test_files_beyond_the_limit_or_unreadable_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.xml"
    with large.open("wb") as file:
        file.truncate(documents.FILE_BYTES_MAX + 1)
    with pytest.raises(UsageError, match="larger than"):
        documents.files([large])
    with pytest.raises(UsageError, match="cannot be read"):
        documents.files([tmp_path / "missing.xml"])
    with pytest.raises(UsageError, match="cannot be read"):
        documents.files([tmp_path])


def test_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    paths = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "a=b.xml")
        paths[-1].write_text(f"<{folder}/>")
    assert [one.name for one in documents.files(paths)] == ["a_b.xml", "2-a_b.xml"]


def test_a_number_that_makes_names_unique_gives_no_name_of_another_file(tmp_path: Path) -> None:
    paths = [tmp_path / "2-a.xml", tmp_path / "a.xml", tmp_path / "b" / "a.xml"]
    (tmp_path / "b").mkdir()
    for path in paths:
        path.write_text("<a/>")
    names = [one.name for one in documents.files([*paths, paths[0], paths[1]])]
    assert names == ["2-a.xml", "a.xml", "3-a.xml", "2-2-a.xml", "4-a.xml"]


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'woodstox'"):
        catalogue.choose_parsers([], ["woodstocks"], xml_only=False)
    with pytest.raises(UsageError, match="Did you mean 'java'"):
        catalogue.choose_parsers(["jave"], [], xml_only=False)
    with pytest.raises(UsageError, match="Go has no maintained CDR library"):
        catalogue.choose_parsers(["go"], ["cdr"], xml_only=False)
    with pytest.raises(UsageError, match="no parser is left"):
        catalogue.choose_parsers([], ["json"], xml_only=True)


def test_the_reference_is_one_of_the_measured_parsers() -> None:
    assert str(catalogue.reference(None, ALL)) == "xerces-sax@java"
    assert str(catalogue.reference(None, catalogue.choose_parsers(["go"], [], xml_only=False))) == (
        "encoding-xml@go"
    )
    assert str(catalogue.reference("json@go", ALL)) == "json@go"
    for name in ("json", "cdr@go"):
        with pytest.raises(UsageError, match="--against"):
            catalogue.reference(name, ALL)


def test_every_repeat_has_every_parser_once_in_an_order_of_its_own() -> None:
    measured = tuple(parser for parser in ALL if not parser.missing)
    plan = Plan(measured, tuple(documents.messages()), Windows(1.0, 0.1, 5), 4, seed=7)
    order = plan.order()
    parts = [order[at : at + len(measured)] for at in range(0, len(order), len(measured))]
    assert len(parts) == 4
    assert all(set(part) == set(measured) for part in parts)
    assert len({tuple(map(str, part)) for part in parts}) == 4
    assert order == plan.order()


def test_a_parser_that_saw_something_else_fails_its_trial() -> None:
    parser, document = ALL[0], documents.Document("a", {"xml": b"<a/>"}, {"xml": "right"})
    trials.check(make_timed(1.0, "right"), parser, [document])
    with pytest.raises(TrialFailed, match="wrong elements, attributes or texts in a"):
        trials.check(make_timed(1.0, "wrong"), parser, [document])
    with pytest.raises(TrialFailed, match="documents other than the given ones"):
        trials.check(make_timed(1.0, "right", "b"), parser, [document])


def test_rows_have_intervals_and_verdicts_and_hide_no_failure() -> None:
    first, second, third, missing = ALL[0], ALL[1], ALL[2], next(p for p in ALL if p.missing)
    measured = Trials(
        {
            first: [make_timed(x) for x in (100, 101, 102)],
            second: [make_timed(x) for x in (300, 303, 306)],
        },
        {second: ["signal SIGKILL"], third: ["no result within 30 s"]},
    )
    rows = results.rows([first, second, third, missing], measured, first, 0.05)
    assert [row.processes for row in rows] == [3, 3, 0, 0]
    assert rows[0].comparison is None
    assert rows[1].comparison is not None
    assert rows[1].comparison.verdict == "higher"
    assert rows[1].comparison.ratio.estimate == pytest.approx(3.0, rel=0.01)
    assert rows[0].parse is not None
    assert rows[0].parse.estimate == pytest.approx(101.0, rel=0.01)
    assert rows[0].mean == pytest.approx(101.0)
    assert rows[0].std == pytest.approx(1.0)
    assert (rows[1].failures, rows[2].failures) == (("signal SIGKILL",), ("no result within 30 s",))
    assert rows[3].parser.missing


def test_a_process_is_restless_when_its_last_block_differs_from_its_first() -> None:
    def process(*blocks: tuple[float, ...]) -> Timed:
        found = tuple(Times(str(at), "", 10, 10, one) for at, one in enumerate(blocks))
        return Timed("class", "library 1", "runtime 2", 1, 5, True, found)

    assert not process((100.0, 300.0, 104.0)).restless
    assert process((100.0, 100.0, 106.0)).restless
    assert process((100.0, 94.0)).restless
    assert not process((100.0, 110.0), (100.0, 90.0)).restless
    measured = Trials({ALL[0]: [process((100.0, 90.0)), process((100.0, 100.0))]})
    (row,) = results.rows([ALL[0]], measured, None, 0.05)
    assert (row.restless, row.not_calm) == (1, 0)


def test_the_java_machine_has_no_options_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> Path:
        return Path("/out")

    monkeypatch.setattr(builds, "build", build)
    monkeypatch.setenv("JAVA", "echo")
    for name in harness.OPTIONS_OF_OTHERS:
        monkeypatch.setenv(name, "-Dother=1")
    command = harness.build(["java"], Interruption())["java"]
    assert {"-XX:+UseSerialGC", "-Xms512m"} < set(command)
    run = command[: command.index("echo")]
    seen = subprocess.run([*run, "env"], capture_output=True, text=True, check=True).stdout
    assert "-Dother=1" not in seen
    assert "JAVA=echo" in seen


def test_a_failed_build_names_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    cargo.chmod(0o755)
    monkeypatch.setattr(checkout, "root", lambda: tmp_path)
    monkeypatch.setenv("PATH", f"{cargo.parent}:/usr/bin:/bin")
    with pytest.raises(BuildError, match=r"building .*rust failed .*broken"):
        harness.build(["rust"], Interruption())
    cargo.unlink()
    monkeypatch.setenv("PATH", str(cargo.parent))
    with pytest.raises(BuildError, match="needs cargo, which is not in PATH"):
        harness.build(["rust"], Interruption())


def test_a_row_of_the_table_fits_into_80_columns() -> None:
    first, second = ALL[0], next(parser for parser in ALL if str(parser) == "crimson-dom@java")
    measured = Trials(
        {
            first: [make_timed(x) for x in (900, 1000)],
            second: [make_timed(x) for x in (950, 990, 1120)],
        }
    )
    _, row = results.rows([first, second], measured, first, 0.05)
    text = output._row_text(row, first)
    assert text.endswith("undecided")
    assert len(text) <= 80


def test_the_page_has_the_published_figures_next_to_the_measured_ones() -> None:
    published = parsers_page.read_published_figures(ROOT / "studies" / "published.csv")
    assert published == {
        "Xerces DOM": (50.01, 0.64),
        "Xerces SAX": (18.72, 1.40),
        "Crimson DOM": (4.34, 0.44),
        "Crimson SAX": (3.36, 0.22),
    }
    with pytest.raises(ValueError, match="lacks"):
        parsers_page.page("no markers", {}, published)


def test_the_page_has_the_arithmetic_mean_next_to_the_deviation() -> None:
    published = parsers_page.read_published_figures(ROOT / "studies" / "published.csv")
    chosen = [parser for parser in ALL if parser.name in parsers_page.NAMES.values()]
    processes = [make_timed(1000.0), make_timed(4000.0)]
    measured = Trials(dict.fromkeys(chosen, processes))
    plan = Plan(tuple(chosen), tuple(documents.messages()), Windows(1.0, 0.1, 5), 2, seed=7)
    found = results.rows(chosen, measured, chosen[0], 0.05)
    study = list(parsers_page._study(output._json(found, chosen[0], plan), published))
    assert "| Crimson SAX | 3.36 (0.22) | 1.0 | 2.50 (2.12) | 1.00 |" in study


def test_the_committed_page_was_made_with_every_parser() -> None:
    text = (ROOT / parsers_page.PAGE).read_text()
    for parser in ALL:
        assert f"| `{parser}` |" in text
    assert "failed: " not in text


def test_the_list_names_every_parser(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [str(parser) for parser in ALL]
    assert all(len(line) <= 80 for line in lines)
    assert asdict(ALL[0])["language"] == "java"

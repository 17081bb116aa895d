"""A row as it is kept: the lines that were printed, and every figure behind them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from bench import table
from bench.bounds import Ratio, Round
from bench.process import Reading
from bench.races import Raced
from bench.rows.build import Built
from bench.rows.captures import Ablation
from bench.rows.clients import Divided
from bench.rows.codecs import Timed
from bench.rows.host import HostAblation
from bench.rows.links import Exactness
from bench.rows.live import Followed
from bench.rows.memory import Weighed
from bench.rows.packets import Read
from bench.rows.startup import Started
from bench.rows.streams import Streamed
from bench.rows.tax import Taxed
from bench.rows.xml_services import Decoded, Written


@dataclass(frozen=True)
class Row:
    """One row's lines for the terminal, its ratios, and everything for the file."""

    key: str
    lines: list[str]
    ratios: list[Ratio]
    raw: dict[str, Any]


def race_row(raced: Raced) -> Row:
    """Every reading of every round."""
    raw = {
        "title": raced.race.title,
        "others_share": raced.others_share,
        "rounds": [_round(rnd) for rnd in raced.rounds],
        "ratios": [_ratio(ratio) for ratio in raced.ratios],
    }
    return Row(raced.race.key, table.race_lines(raced), raced.ratios, raw)


def memory_row(weighed: Weighed) -> Row:
    """Every run of the engine with its peak."""
    raw = {
        "title": weighed.title,
        "runs": [asdict(held) for held in weighed.runs],
        "ratios": [_ratio(figure) for figure in weighed.figures],
    }
    return Row(weighed.key, table.memory_lines(weighed), weighed.figures, raw)


def tax_row(taxed: Taxed) -> Row:
    """Every reading of every round."""
    raw = {
        "stack": taxed.stack.reference,
        "rounds": [_round(rnd) for rnd in taxed.rounds],
        "ratios": [_ratio(ratio) for ratio in taxed.ratios],
    }
    return Row(taxed.key, table.tax_lines(taxed), taxed.ratios, raw)


def codecs_row(every: list[Timed]) -> Row:
    """Every round of every codec and message."""
    ratios = [ratio for timed in every for ratio in timed.ratios]
    raw = {
        "cases": [asdict(timed) for timed in every],
        "ratios": [_ratio(ratio) for ratio in ratios],
    }
    return Row("codecs", table.codec_lines(every), ratios, raw)


def service_xml_row(every: list[Decoded]) -> Row:
    """Every round of every document."""
    ratios = [decoded.ratio for decoded in every]
    raw = {
        "cases": [asdict(decoded) for decoded in every],
        "ratios": [_ratio(ratio) for ratio in ratios],
    }
    return Row("service-xml", table.service_xml_lines(every), ratios, raw)


def xml_writers_row(every: list[Written]) -> Row:
    """Every round of every writer's documents; nothing is promised of them."""
    raw = {"cases": [asdict(written) for written in every]}
    return Row("xml-writers", table.xml_writers_lines(every), [], raw)


def packets_row(read: Read) -> Row:
    """Every pass of every program."""
    raw = {
        "packets": read.packets,
        "others_share": read.others_share,
        "rounds": [{name: asdict(one) for name, one in rnd.items()} for rnd in read.rounds],
        "held": [asdict(one) for one in read.held],
        "ratios": [_ratio(figure) for figure in read.figures],
    }
    return Row("packets", table.packets_lines(read), read.figures, raw)


def links_row(exact: Exactness) -> Row:
    """Every try of every promise."""
    raw = {
        "others_share": exact.others_share,
        "ratios": [_ratio(figure) for figure in exact.figures],
    }
    return Row("links", table.links_lines(exact), exact.figures, raw)


def startup_row(started: Started) -> Row:
    """Every run of every command."""
    raw = {
        "others_share": started.others_share,
        "ratios": [_ratio(figure) for figure in started.figures],
    }
    return Row("startup", table.startup_lines(started), started.figures, raw)


def build_row(built: Built) -> Row:
    """The figures and the longest units of one build."""
    raw = {
        "others_share": built.others_share,
        "units": [asdict(unit) for unit in built.units],
        "unit_count": built.unit_count,
        "ratios": [_ratio(figure) for figure in built.figures],
    }
    return Row("build", table.build_lines(built), built.figures, raw)


def live_row(followed: Followed) -> Row:
    """Every reading of every round."""
    raw = {
        "others_share": followed.others_share,
        "rounds": [
            {
                name: {"packets_per_s": one.packets_per_s, "drops": one.drops}
                for name, one in rnd.items()
            }
            for rnd in followed.rounds
        ],
        "ratios": [_ratio(figure) for figure in followed.figures],
    }
    return Row("live", table.live_lines(followed), followed.figures, raw)


def clients_row(divided: Divided) -> Row:
    """Every start and every sum."""
    raw = {
        "late_ms": divided.late_ms,
        "merge_ms": divided.merge_ms,
        "ratios": [_ratio(figure) for figure in divided.figures],
    }
    return Row("clients", table.clients_lines(divided), divided.figures, raw)


def streams_row(streamed: Streamed) -> Row:
    """Every run for memory, and every reading of every round."""
    raw = {
        "runs": [asdict(held) for held in streamed.held],
        "rounds": [_round(rnd) for rnd in streamed.rounds],
        "ratios": [_ratio(figure) for figure in streamed.figures],
    }
    return Row("streams", table.streams_lines(streamed), streamed.figures, raw)


def capture_row(every: list[Ablation]) -> Row:
    """Every reading of every round, and what each capture said."""
    raw = {"ablations": [_ablation(one) for one in every]}
    ratios = [ratio for one in every for ratio in one.ratios]
    return Row("capture", table.capture_lines(every), ratios, raw)


def host_row(every: list[HostAblation]) -> Row:
    """Every reading of every round, and what each record holds."""
    raw = {"ablations": [_host_ablation(one) for one in every]}
    return Row("host", table.host_lines(every), [one.ratio for one in every], raw)


def _host_ablation(one: HostAblation) -> dict[str, Any]:
    return {
        "stack": one.stack,
        "load": one.load,
        "rate_rps": one.rate_rps,
        "records_per_call": one.records_per_call,
        "record_us": one.record_us,
        "drops": one.drops,
        "others_share": one.others_share,
        "recorded": msgspec.to_builtins(one.recorded),
        "rounds": [_round(rnd) for rnd in one.rounds],
        "ratio": _ratio(one.ratio),
    }


def _ablation(one: Ablation) -> dict[str, Any]:
    return {
        "stack": one.stack,
        "link": one.link,
        "packets_per_s": one.packets_per_s,
        "capture_us": one.capture_us,
        "drops": one.drops,
        "others_share": one.others_share,
        "captured": msgspec.to_builtins(one.captured),
        "rounds": [_round(rnd) for rnd in one.rounds],
        "ratios": [_ratio(ratio) for ratio in one.ratios],
    }


def _round(rnd: Round) -> dict[str, Any]:
    return {name: _describe_reading(reading) for name, reading in rnd.items()}


def _describe_reading(reading: Reading) -> dict[str, Any]:
    derived = {
        "client_us_per_call": reading.client_us_per_call,
        "bound": reading.bound,
        "others_share": reading.others_share,
    }
    return {**asdict(reading), **derived}


def _ratio(ratio: Ratio) -> dict[str, Any]:
    return {**asdict(ratio), "median": ratio.median, "verdict": ratio.verdict}

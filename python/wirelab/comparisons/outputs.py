"""The verdict of a comparison in formats for pull requests, build servers and dashboards."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from math import exp, log, sqrt

from wirelab.comparisons import shared_wait
from wirelab.comparisons.gate import Gate, further_pairs
from wirelab.explain.effect import capitalize_first, noun
from wirelab.format.counting import format_count, of_all
from wirelab.format.numbers import DASH, digits, quantity, ratio_limits
from wirelab.format.sanitize import sanitize

MEAN = "geometric mean of the pairs"
WORDS = {
    "better": "better than",
    "worse": "worse than",
    "equivalent": "equivalent to",
}


def sentence(made: Gate, names: tuple[str, str]) -> str:
    """The result with its interval, then the most useful difference in another figure."""
    first = _answer(made, names)
    found = next((one for one in made.findings if one.found), None)
    return f"{first} {found.sentence(names)}" if found else first


def sentences(made: Gate, names: tuple[str, str]) -> list[str]:
    """:func:`sentence`, other differences, what is equivalent, and what is undecided."""
    found = [one.sentence(names) for one in made.findings if one.found]
    level, open_ = (
        [noun(one.figure) for one in made.findings if one.verdict == verdict]
        for verdict in ("equivalent", "undecided")
    )
    within = f"Equivalent within {100.0 * made.threshold:g} %"
    wait = shared_wait.sentence(made.pairs.trials, names)
    return [
        sentence(made, names),
        *([_describe_overload(made)] if made.overloaded else []),
        *([wait] if wait else []),
        *found[1:],
        *([f"{within}: {', '.join(level)}."] if level else []),
        *([f"Undecided in other figures: {', '.join(open_)}."] if open_ else []),
    ]


def _answer(made: Gate, names: tuple[str, str]) -> str:
    first, second = (sanitize(name) for name in names)
    if made.outcome == "failed":
        return f"{_describe_failures(made, first, second)}."
    if made.fails_more:
        a, b = (of_all(calls.failed, calls.made, "call") for calls in made.pairs.calls)
        return f"{second} is worse than {first}: {b} failed, compared with {a} for {first}."
    if worse := made.guards_of("worse"):
        of_figure = f"{made.figure.title}: {made.outcome_of_figure} ({_describe_interval(made)})"
        return f"{second} is worse than {first}: {worse[0].reason}. {capitalize_first(of_figure)}."
    guarded = "".join(f"; not guarded: {guard.reason}" for guard in made.unguarded)
    if made.outcome_of_figure == "undecided":
        more = None if made.overloaded else further_pairs(made)
        hint = f", about {format_count(more, 'more pair')} may decide (--pairs)" if more else ""
        against = f"{second} against {first} in {made.figure.title}"
        return f"Undecided: {against} ({_describe_interval(made)}){hint}{guarded}."
    verdict = f"{second} is {WORDS[made.outcome_of_figure]} {first} in {made.figure.title}"
    if made.outcome == "undecided":
        return f"Undecided: {verdict} ({_describe_interval(made)}){guarded}."
    return f"{verdict} ({_describe_interval(made)})."


def _describe_overload(made: Gate) -> str:
    every = format_count(len(made.pairs.trials), "pair")
    return (
        f"Neither service kept up with the arrivals in any of {every}: their queues grew until the "
        "window ended, and more pairs show nothing else. Use a lower --rate; `wirelab limit` finds "
        "the highest that a service keeps up with."
    )


def _describe_interval(made: Gate) -> str:
    """``ratio 1.13, 95 % interval 1.04 to 1.27; 12 pairs``."""
    interval, pairs = made.ratio, format_count(len(made.pairs.a), "pair")
    if interval.bounds is None:
        return f"no interval: {interval.reason}; {pairs}"
    span = ratio_limits(*interval.bounds, made.threshold)
    ratio, level = digits(interval.estimate), f"{100.0 * made.confidence:g} %"
    return f"ratio {ratio}, {level} interval {span}; {pairs}"


def markdown(made: Gate, names: tuple[str, str], marks: tuple[str, str] = ("", "")) -> str:
    """Markdown for a pull request. ``marks``: what marked the figure of each service."""
    icons = {"better": "✅", "equivalent": "✅", "worse": "❌", "failed": "❌", "undecided": "❔"}
    first, second = (sanitize(name).replace("|", r"\|") for name in names)
    means = (mean(values, made) for values in (made.pairs.a, made.pairs.b))
    a, b = (append_mark(text, mark) for text, mark in zip(means, marks, strict=True))
    bounds = made.ratio.bounds
    span = "–" if bounds is None else ratio_limits(*bounds, made.threshold)
    ratio = digits(made.ratio.estimate) if made.pairs.a else "–"
    method = (
        "Measured in randomly ordered pairs on fresh processes, evaluated after every pair with an "
        "anytime-valid confidence sequence; "
        f"differences up to {100.0 * made.threshold:g} % count as equivalent."
    )
    lines = [
        f"### {icons[made.outcome]} {made.figure.title}: {made.outcome}",
        "",
        " ".join(sentences(made, names)),
        "",
        f"| | {first} | {second} | ratio | {100.0 * made.confidence:g} % interval | pairs |",
        "|---|---|---|---|---|---|",
        f"| {made.figure.title} | {a} | {b} | {ratio} | {span} | {len(made.pairs.a)} |",
        "",
        method,
    ]
    return "\n".join(lines) + "\n"


def junit(made: Gate, names: tuple[str, str]) -> str:
    """JUnit XML with one test case; an undecided result is ``skipped``."""
    root = xml.Element(
        "testsuite",
        name="wirelab compare",
        tests="1",
        failures=str(int(made.outcome == "worse")),
        skipped=str(int(made.outcome == "undecided")),
        errors=str(int(made.outcome == "failed")),
    )
    name = f"{sanitize(names[1])} against {sanitize(names[0])}"
    case = xml.SubElement(root, "testcase", classname=name, name=made.figure.name)
    reason = sentence(made, names)
    if made.outcome in ("worse", "failed"):
        tag = "failure" if made.outcome == "worse" else "error"
        xml.SubElement(case, tag, message=reason)
    elif made.outcome == "undecided":
        xml.SubElement(case, "skipped", message=reason)
    else:
        xml.SubElement(case, "system-out").text = reason
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def bencher(made: Gate, names: tuple[str, str]) -> str:
    """Bencher Metric Format: per service the measure with its value and limits. The limits are one
    standard deviation of the trials."""
    document: dict[str, object] = {}
    for name, values in zip(names, (made.pairs.a, made.pairs.b), strict=True):
        if values:
            logs = [log(value) for value in values]
            mean = sum(logs) / len(logs)
            spread = sqrt(sum((one - mean) ** 2 for one in logs) / max(1, len(logs) - 1))
            document[name] = {
                made.figure.name.replace("_", "-"): {
                    "value": exp(mean),
                    "lower_value": exp(mean - spread),
                    "upper_value": exp(mean + spread),
                }
            }
    return json.dumps(document, indent=1) + "\n"


def mean(values: tuple[float, ...], made: Gate) -> str:
    """The geometric mean with its unit: the ratio is the quotient of both."""
    if not values:
        return DASH
    return quantity(exp(sum(map(log, values)) / len(values)), made.figure.unit)


def append_mark(text: str, mark: str) -> str:
    """A figure with what marked it: ``12.3 k/s (engine backlog, up to 12 %)``."""
    return f"{text} ({mark})" if mark else text


def _describe_failures(made: Gate, first: str, second: str) -> str:
    failed = made.pairs.failed
    why = f"{format_count(len(failed), 'pair')} failed ({sanitize(failed[0])})" if failed else ""
    if made.pairs.a:
        return f"{second} was not compared with {first}: {why}"
    return f"Nothing was measured: {why or 'no pair has trials of both services'}"

"""The answer of ``wirelab compare``: is the second service worse than the first?"""

from __future__ import annotations

from wirelab.comparisons import outputs
from wirelab.comparisons.gate import Gate, read_gate
from wirelab.report.section import Section, Table
from wirelab.report.source import Source

METHOD = (
    "The pairs were evaluated one after the other by a confidence sequence, whose interval holds "
    "at all looks together. Findings has the answer."
)


def sections(source: Source) -> list[Section]:
    """Empty for a run that answers no such question."""
    comparison = source.manifest.comparison
    made = None if comparison is None else read_gate(source.trials, comparison)
    if comparison is None or made is None:
        return []
    names = comparison.names
    values = zip(names, (made.pairs.a, made.pairs.b), strict=True)
    rows = [(name, outputs.mean(each, made)) for name, each in values]
    table = Table(("Service", f"{made.figure.title}, {outputs.MEAN}"), rows, numeric=(1,))
    title = f"Is {names[1]} worse than {names[0]}?"
    return [Section(title, (METHOD,), [table, *_guards(made, names)])]


def _guards(made: Gate, names: tuple[str, str]) -> list[Table]:
    """What must not become worse meanwhile; none of runs without guards."""
    rows = [(guard.name.replace("_", " "), guard.outcome, guard.reason) for guard in made.guards]
    caption = f"Guards: what must not become worse with {names[1]}"
    return [Table(("Guard", "outcome", "what is known"), rows, caption)] if rows else []

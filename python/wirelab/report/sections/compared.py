"""The answer of ``wirelab compare``: is the second service worse than the first?"""

from __future__ import annotations

from wirelab.comparisons import outputs
from wirelab.comparisons.gate import kept
from wirelab.report.section import Section, Table
from wirelab.report.source import Source


def sections(source: Source) -> list[Section]:
    """Empty for a run that answers no such question."""
    comparison = source.manifest.comparison
    made = None if comparison is None else kept(source.trials, comparison)
    if comparison is None or made is None:
        return []
    names = comparison.names
    values = zip(names, (made.pairs.a, made.pairs.b), strict=True)
    rows = [(name, outputs.mean(each, made)) for name, each in values]
    table = Table(("Service", f"{made.figure.title}, {outputs.MEAN}"), rows, numeric=(1,))
    title = f"Is {names[1]} worse than {names[0]}?"
    return [Section(title, [outputs.sentence(made, names)], [table])]

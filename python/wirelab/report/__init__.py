"""What a run found, for people: sentences, tables, and one page that opens offline.

The same rows feed the terminal, the page and the exports, so that none can say what
another does not. Studies add their own sections to the page.
"""

from __future__ import annotations

from wirelab.report.export import to_csv, to_json
from wirelab.report.sentences import sentences
from wirelab.report.terminal import terminal_table

__all__ = ["sentences", "terminal_table", "to_csv", "to_json"]

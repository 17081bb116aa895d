"""What a run found, for people: sentences, tables, and one page that opens offline.

The same rows feed the terminal, the page and the exports, so that none can say what
another does not. Studies add their own sections to the page.
"""

from __future__ import annotations

from wirelab.report.export import to_csv, to_json
from wirelab.report.page import write
from wirelab.report.palette import Look, look
from wirelab.report.picture import Line, Row, interval_picture, line_picture
from wirelab.report.section import Picture, Section, Table, UnsafePicture
from wirelab.report.sentences import sentences
from wirelab.report.terminal import terminal_table

__all__ = [
    "Line",
    "Look",
    "Picture",
    "Row",
    "Section",
    "Table",
    "UnsafePicture",
    "interval_picture",
    "line_picture",
    "look",
    "sentences",
    "terminal_table",
    "to_csv",
    "to_json",
    "write",
]

"""What a run found, for people: sentences, tables, and one page that opens offline.

The same rows feed the terminal, the page and the exports, so that none can say what
another does not. Studies add their own sections to the page. What is named here is
loaded when it is first used: drawing needs matplotlib, and most commands draw nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wirelab.report.overview import overview_picture
    from wirelab.report.page import write
    from wirelab.report.palette import Look, look
    from wirelab.report.picture import Line, Row, interval_picture, line_picture
    from wirelab.report.section import Picture, Section, Table, UnsafePicture
    from wirelab.report.sentence import sentences
    from wirelab.report.terminal import terminal_table
    from wirelab.run.export import to_csv, to_json

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
    "overview_picture",
    "sentences",
    "terminal_table",
    "to_csv",
    "to_json",
    "write",
]

_HOMES = {
    "export": ("to_csv", "to_json"),
    "overview": ("overview_picture",),
    "page": ("write",),
    "palette": ("Look", "look"),
    "picture": ("Line", "Row", "interval_picture", "line_picture"),
    "section": ("Picture", "Section", "Table", "UnsafePicture"),
    "sentence": ("sentences",),
    "terminal": ("terminal_table",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """PEP 562: loads the module that holds a public name."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)

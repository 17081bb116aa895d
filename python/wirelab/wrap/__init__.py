"""Runs any load tool or client unmodified under packet capture and checks its figures.

``session`` runs the command, with a wirelab service and a link on request. ``loadtools`` reads
the options and reports of known tools. ``checks`` compares them with the packets, ``result`` is the
record of everything, and ``text`` and ``page`` show it.
"""

from wirelab.wrap.result import result
from wirelab.wrap.session import Measured, Order, wrap
from wirelab.wrap.text import lines

__all__ = ["Measured", "Order", "lines", "result", "wrap"]

"""Anyone's load tool or client, run unmodified under capture: what it really did on the wire.

``session`` runs the command (with a service and a link of the lab where asked for), ``tools``
reads the options and the report of the tools that it knows, ``judgement`` holds the one against
the other, ``result`` is the record of all, ``text`` shows it.
"""

from wirelab.wrap.result import result
from wirelab.wrap.session import Measured, Order, wrap
from wirelab.wrap.text import lines

__all__ = ["Measured", "Order", "lines", "result", "wrap"]

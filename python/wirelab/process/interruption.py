"""Treats Ctrl-C and SIGTERM as a request to stop, checked where stopping is clean."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from wirelab.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Within the block, the signals set a flag instead of raising at an arbitrary position."""

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._request)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def check(self) -> None:
        """Raises :class:`Interrupted` if stopping was requested."""
        if self.requested:
            raise Interrupted("interrupted")

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.requested = True

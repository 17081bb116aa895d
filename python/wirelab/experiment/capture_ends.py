"""The ends of a link at which packets are captured."""

from __future__ import annotations

from typing import Literal

CaptureChoice = Literal["none", "client", "server", "both"]
"""Values in experiment files."""
NO_CAPTURE: CaptureChoice = "none"

SIDES: dict[CaptureChoice, tuple[Literal["client", "server"], ...]]
SIDES = {NO_CAPTURE: (), "client": ("client",), "server": ("server",), "both": ("client", "server")}
"""The captures that each choice makes, named by end of the link."""
WHERE = {
    "client": "at the client's end",
    "server": "at the server's end",
    "upstream": "behind the proxy",
}
"""Place of each capture in words, including the one between a proxy and its service."""

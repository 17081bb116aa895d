"""At which ends of a link packets are captured."""

from __future__ import annotations

from typing import Literal

CaptureChoice = Literal["none", "client", "server", "both"]
"""As experiments write it."""
NO_CAPTURE: CaptureChoice = "none"

SIDES: dict[CaptureChoice, tuple[Literal["client", "server"], ...]]
SIDES = {NO_CAPTURE: (), "client": ("client",), "server": ("server",), "both": ("client", "server")}
"""The captures that each choice makes, by the end of the link."""
WHERE = {
    "client": "at the client's end",
    "server": "at the server's end",
    "upstream": "behind the proxy",
}
"""Each capture in a sentence, that between a proxy and its service among them."""

"""A real browser, driven over the DevTools protocol: https://chromedevtools.github.io/devtools-protocol.

The protocol runs over two pipes (`--remote-debugging-pipe`: JSON texts, each ended by NUL), so no
port is opened. Clicks and keys are the browser's own input events, and the page's content policy
stays in force.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

TIMEOUT_S = 240.0
"""For one answer. A busy machine starts a browser slowly."""
KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
"""Windows' virtual key codes."""
_HIGH = 20
"""File descriptors from here on are not 3 and 4, which the browser reads and writes."""


class BrowserError(RuntimeError):
    """The browser ended, did not answer in time, or refused a command."""


class Browser:
    """One browser; leaving it ends it."""

    def __init__(self, program: str, flags: tuple[str, ...], folder: Path) -> None:
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, _HIGH) for end in (read, write)]

        def connect() -> None:
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [program, *flags, "--remote-debugging-pipe", f"--user-data-dir={folder}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=connect,
        )
        for end in (read, write, *ends):
            os.close(end)
        self._buffer = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The answer to a command."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") != self._last:
                self.events.append(found)
            elif "error" in found:
                raise BrowserError(f"{method}: {found['error']}")
            else:
                return dict(found["result"])

    def wait_for(self, event: str, session: str) -> dict[str, Any]:
        """The first event of that name, which may have come already."""
        while True:
            for at, found in enumerate(self.events):
                if found.get("method") == event and found.get("sessionId") == session:
                    return self.events.pop(at)
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise BrowserError(f"no answer within {TIMEOUT_S:g} s")
            part = os.read(self._read, 1 << 16)
            if not part:
                raise BrowserError("the browser ended")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))

    def open(self, address: str, width: int = 1280, height: int = 900, dark: bool = False) -> Tab:
        """A loaded page in a tab of its own."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session)
        for domain in ("Page", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        tab.call("Performance.enable", timeDomain="threadTicks")
        tab.resize(width, height)
        tab.prefer("dark" if dark else "light")
        tab.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired", session)
        return tab


class Tab:
    """One page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self.session = session

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command for this page."""
        return self._browser.call(method, self.session, **parameters)

    def resize(self, width: int, height: int) -> None:
        """The window, in CSS pixels; also smaller than a desktop's windows can be."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """What the reader's system prefers: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str) -> Any:
        """The value of an expression, which may be a promise."""
        found = self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in found:
            raise BrowserError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def move(self, x: float, y: float) -> None:
        """The pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """The middle of the first element that matches, after it was scrolled into view."""
        box = self.run(
            f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}});
            const b = e.getBoundingClientRect();
            return [b.left + b.width / 2, b.top + b.height / 2]; }})()"""
        )
        x, y = box
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key, down and up."""
        code = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                text="\r" if key == "Enter" and kind == "keyDown" else "",
            )

    def type(self, text: str) -> None:
        """Text into the element with the focus."""
        self.call("Input.insertText", text=text)

    def cpu_s(self) -> float:
        """CPU seconds of the page's main thread since it was opened."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        found = {one["name"]: one["value"] for one in metrics}
        return float(found["TaskDuration"])

    def complaints(self) -> list[str]:
        """What the browser logged about the page: errors, and what its policy refused."""
        kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [
            json.dumps(event["params"])
            for event in self._browser.events
            if event.get("sessionId") == self.session and event["method"] in kinds
        ]

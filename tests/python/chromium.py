"""Chromium with real clicks, keys and windows, over the Chrome DevTools Protocol
(https://chromedevtools.github.io/devtools-protocol).

The protocol runs over two pipes (``--remote-debugging-pipe``: JSON texts, each ended by NUL), so
no port is opened. Scripts of a test run also where a page's content policy forbids scripts.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # Names of other machines are not resolved.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)
TIMEOUT_S = 240.0
"""For a reply, and for a condition to become true. A busy machine starts a browser slowly."""
KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "Space": 32,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
"""Windows' virtual key codes."""
TEXTS = {"Enter": "\r", "Space": " "}
LOGGED = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
NAVIGATED = "navigated or closed"
"""In the error of a script whose page was replaced while it ran."""

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium in PATH: install Debian's chromium to run these"
)


class BrowserError(RuntimeError):
    """The browser ended, did not reply in time, or refused a command."""


class Browser:
    """A browser with an empty profile in ``folder``; it ends with the block."""

    def __init__(self, folder: Path) -> None:
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        # The browser reads commands from 3 and writes replies to 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]
        connect = f"os.dup2({ends[0]}, 3); os.dup2({ends[1]}, 4)"
        start = f"import os, sys; {connect}; os.execv(sys.argv[1], sys.argv[1:])"
        self._process = subprocess.Popen(
            [sys.executable, "-c", start, str(CHROMIUM), *FLAGS, f"--user-data-dir={folder}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=ends,
        )
        for end in (read, write, *ends):
            os.close(end)
        self._received = b""
        self._last = 0
        self._tabs: dict[str, Tab] = {}

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

    def open(
        self,
        address: str = "about:blank",
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
    ) -> Tab:
        """A loaded page in a new tab, which is in front."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self._tabs[session] = Tab(self, session)
        for domain in ("Page", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        tab.call("Page.setLifecycleEventsEnabled", enabled=True)
        tab.call("Performance.enable", timeDomain="threadTicks")
        tab.call("Page.bringToFront")
        tab.resize(width, height)
        tab.prefer(scheme)
        tab.open(address)
        return tab

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The result of a command; events that arrive before it are recorded."""
        self._last += 1
        command: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") != self._last:
                self._record(message)
            elif "error" in message:
                raise BrowserError(f"{method}: {message['error']}")
            else:
                return dict(message["result"])

    def wait_for_event(self) -> None:
        """Waits for one more event and records it."""
        self._record(self._message())

    def _message(self) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._received:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._read], [], [], left)[0]:
                raise BrowserError(f"no reply within {TIMEOUT_S:g} s")
            block = os.read(self._read, 1 << 20)
            if not block:
                raise BrowserError("the browser ended")
            self._received += block
        text, _, self._received = self._received.partition(b"\0")
        return dict(json.loads(text))

    def _record(self, event: dict[str, Any]) -> None:
        tab = self._tabs.get(event.get("sessionId", ""))
        if tab is None:
            return
        if event["method"] in LOGGED:
            tab.logged.append(json.dumps(event["params"]))
        elif event["method"] == "Page.lifecycleEvent" and event["params"]["name"] == "load":
            tab.loaded.add(event["params"]["loaderId"])


class Tab:
    """One page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        self.logged: list[str] = []
        """Console messages, exceptions, failed requests, and what the content policy refused."""
        self.loaded: set[str] = set()
        """Navigations whose page has loaded."""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command for this page."""
        return self._browser.call(method, self._session, **parameters)

    def close(self) -> None:
        """Closes the page."""
        self.call("Page.close")

    def open(self, address: str) -> None:
        """Opens an address and waits until the page has loaded."""
        loader = self.call("Page.navigate", url=address)["loaderId"]
        while loader not in self.loaded:
            self._browser.wait_for_event()

    def resize(self, width: int, height: int = 900) -> None:
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
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, which may be a promise."""
        reply = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in reply:
            raise BrowserError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true, also across a change of the page."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                if self.evaluate(expression):
                    return
            except BrowserError as error:
                if NAVIGATED not in str(error):
                    raise
            time.sleep(0.1)
        raise BrowserError(f"never true: {expression}")

    def move(self, x: float, y: float) -> None:
        """Moves the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Clicks the middle of the first element that matches."""
        x, y = self.evaluate(
            f"""(() => {{ const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "center"}});
            const box = element.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()"""
        )
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Presses and releases a key."""
        values = {
            "key": " " if key == "Space" else key,
            "code": key,
            "windowsVirtualKeyCode": KEYS[key],
        }
        self.call("Input.dispatchKeyEvent", type="keyDown", text=TEXTS.get(key, ""), **values)
        self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def type(self, text: str) -> None:
        """Inserts text into the element with the focus."""
        self.call("Input.insertText", text=text)

    def cpu_s(self) -> float:
        """CPU seconds of the page's main thread since it was opened."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

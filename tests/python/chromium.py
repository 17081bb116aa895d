"""Chromium driven through its pipe (Chrome DevTools Protocol): real clicks, keys and windows."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.python.test_report_browser import CHROMIUM, FLAGS

REPLY_S = 60.0
"""Maximum time for a reply, and for a condition to become true."""


class Tab:
    """A page in the browser."""

    def __init__(self, sink: int, source: int) -> None:
        self._sink, self._source = sink, source
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.logged: list[str] = []
        """Console messages, exceptions and refused resources."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command; events that arrive before it are recorded."""
        self._number += 1
        line = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            line["sessionId"] = self._session
        os.write(self._sink, json.dumps(line).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, (method, message["error"])
                result: dict[str, Any] = message["result"]
                return result
            self._record(message)

    def _message(self) -> dict[str, Any]:
        deadline = time.monotonic() + REPLY_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select(
                [self._source], [], [], max(0.0, deadline - time.monotonic())
            )
            assert ready, "the browser does not answer"
            block = os.read(self._source, 1 << 20)
            assert block, "the browser has ended"
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _record(self, message: dict[str, Any]) -> None:
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        if message.get("method") in kinds:
            self.logged.append(json.dumps(message["params"]))

    def window(self, width: int, height: int = 900, scheme: str = "light") -> None:
        """Size of the window in CSS pixels, and its colours."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def open(self, url: str) -> None:
        """Opens an address and waits until the page is complete."""
        self.call("Page.navigate", url=url)
        self.wait(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        made = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in made, made["exceptionDetails"]
        return made["result"].get("value")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true, also across a change of the page."""
        deadline = time.monotonic() + REPLY_S
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.1)

    def click(self, selector: str) -> None:
        """Clicks the middle of the first element that matches."""
        place = self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=place[0],
                y=place[1],
                button="left",
                clickCount=1,
            )

    def press(self, key: str) -> None:
        """Presses ``Tab``, ``Enter`` or ``Space``."""
        code, text = {"Tab": (9, ""), "Enter": (13, "\r"), "Space": (32, " ")}[key]
        values = {"key": " " if key == "Space" else key, "code": key}
        shown = {"text": text} if text else {}
        self.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            windowsVirtualKeyCode=code,
            **values,
            **shown,
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", windowsVirtualKeyCode=code, **values)

    def screenshot(self, file: Path) -> None:
        """Writes the whole page as PNG."""
        made = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(made["data"]))


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """A browser with one page; both end with the block."""
    assert CHROMIUM is not None
    to_read, sink = os.pipe()
    source, to_write = os.pipe()
    # The browser reads commands from 3 and writes replies to 4.
    passed = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (to_read, to_write)]
    placed = (
        f"os.dup2({passed[0]}, 3); os.dup2({passed[1]}, 4); os.execv(sys.argv[1], sys.argv[1:])"
    )
    options = ("--remote-debugging-pipe", f"--user-data-dir={profile}")
    with subprocess.Popen(
        [sys.executable, "-c", f"import os, sys; {placed}", CHROMIUM, *FLAGS, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=passed,
    ) as browser:
        for one in (to_read, to_write, *passed):
            os.close(one)
        try:
            yield Tab(sink, source)
        finally:
            os.close(sink)
            os.close(source)
            browser.kill()

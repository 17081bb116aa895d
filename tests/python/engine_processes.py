"""Engines that a test started, also when their front is gone: by the mark in their environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil


def find_engines(name: str = "wirelab-engine") -> list[psutil.Process]:
    """Those that run, or other processes of the test by their name."""
    mark = os.environ["WIRELAB_TEST_MARK"]
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == name and process.environ().get("WIRELAB_TEST_MARK") == mark:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def is_calling(process: psutil.Process) -> bool:
    """Whether it is connected to somebody."""
    try:
        return any(one.status == "ESTABLISHED" for one in process.net_connections("tcp"))
    except psutil.NoSuchProcess:
        return False


def wait_for_calls(engines: int, seconds: float = 60.0) -> None:
    """Until that number of engines call. Raises :class:`TimeoutError`."""
    wait_for(lambda: sum(map(is_calling, find_engines())) == engines, seconds)


def wait_for(happened: Callable[[], bool], seconds: float) -> None:
    """Processes of others cannot be waited for, so it looks every 50 ms. Raises
    :class:`TimeoutError`."""
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {seconds} s")
        time.sleep(0.05)

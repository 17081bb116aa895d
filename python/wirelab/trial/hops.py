"""What a trial's record keeps of its proxy."""

from __future__ import annotations

from wirelab.process.proxies import Proxy
from wirelab.trial.record import ProxyRecord


def record(proxy: Proxy | None, window: tuple[int, int]) -> ProxyRecord | None:
    """What the proxy was, and what it used; the window's ends are of CLOCK_MONOTONIC."""
    if proxy is None:
        return None
    used = proxy.used(*window)
    return ProxyRecord(
        kind=proxy.name,
        version=proxy.installation.version,
        configuration=proxy.configuration.name,
        workers=proxy.hop.workers,
        cpu_s=used.cpu_s,
        cpu_window_s=used.cpu_window_s,
        rss_max_bytes=used.rss_max_bytes,
    )

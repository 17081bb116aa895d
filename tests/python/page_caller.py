"""Calls a server of the pages: ``page_caller.py [--grpc] [--calls N] PORT``, by default until it is
ended, every 50 ms."""

from __future__ import annotations

import argparse
import http.client
import itertools
import time
from collections.abc import Callable

import grpc

INTERVAL_S = 0.05
ORDER = b"\x0a\x06pencil\x10\x0c"
"""``{item: "pencil", count: 12}``, a message Order of docs/examples/orders/orders.proto."""


def main() -> None:
    """Makes the calls."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--grpc", action="store_true")
    parser.add_argument("--calls", type=int)
    options = parser.parse_args()
    call = prepare_grpc(options.port) if options.grpc else prepare_http(options.port)
    for _ in range(options.calls) if options.calls else itertools.count():
        call()
        time.sleep(INTERVAL_S)


def prepare_grpc(port: int) -> Callable[[], object]:
    """One call of gRPC, on a connection that is kept."""
    place = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/shop.Orders/Place")
    return lambda: place(ORDER)


def prepare_http(port: int) -> Callable[[], object]:
    """One call of HTTP, on a connection that is kept."""
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def call() -> bytes:
        connection.request("GET", "/orders")
        return connection.getresponse().read()

    return call


if __name__ == "__main__":
    main()

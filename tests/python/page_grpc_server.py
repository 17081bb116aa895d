"""A gRPC server as readers of the pages have it, with reflection: ``page_grpc_server.py --port N``.

It has the service of docs/examples/orders, and ``feed.Feed``, which streams numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.python.grpc_reflection import Reflection, compile_protos

ORDERS = Path(__file__).resolve().parents[2] / "docs/examples/orders"
FEED = """\
syntax = "proto3";
package feed;
service Feed {
  rpc Watch (Request) returns (stream Item);
}
message Request { int32 count = 1; }
message Item { int32 number = 1; }
"""
THREADS = 16


def main() -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    described = _describe()
    handlers = [*Services(described).handlers(), Reflection(described, "v1").handler()]
    server = grpc.server(futures.ThreadPoolExecutor(THREADS), handlers=handlers)
    server.add_insecure_port(f"127.0.0.1:{options.port}")
    server.start()
    server.wait_for_termination()


def _describe() -> descriptor_pb2.FileDescriptorSet:
    with TemporaryDirectory() as folder:
        (Path(folder) / "feed.proto").write_text(FEED, encoding="utf-8")
        return compile_protos([ORDERS, Path(folder)], "orders.proto", "feed.proto")


class Services:
    """What is served."""

    def __init__(self, described: descriptor_pb2.FileDescriptorSet) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        for file in described.file:
            self._pool.Add(file)

    def handlers(self) -> Iterator[grpc.GenericRpcHandler]:
        """One for each service."""
        place = grpc.unary_unary_rpc_method_handler(
            self._place, *self._converters("shop.Order", "shop.Receipt")
        )
        watch = grpc.unary_stream_rpc_method_handler(
            self._watch, *self._converters("feed.Request", "feed.Item")
        )
        yield grpc.method_handlers_generic_handler("shop.Orders", {"Place": place})
        yield grpc.method_handlers_generic_handler("feed.Feed", {"Watch": watch})

    def _converters(self, request: str, reply: str) -> tuple[Any, Any]:
        return self._class(request).FromString, self._class(reply).SerializeToString

    def _class(self, name: str) -> Any:
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(name))

    def _place(self, order: Any, context: Any) -> Any:
        return self._class("shop.Receipt")(number=1, item=order.item, count=order.count)

    def _watch(self, request: Any, context: Any) -> Iterator[Any]:
        item = self._class("feed.Item")
        yield from (item(number=number) for number in range(request.count))


if __name__ == "__main__":
    main()

"""Orders over gRPC, on grpcio. Start: ``python rpc.py --port 50051``."""

import argparse
import asyncio
from itertools import count

import grpc

# Compiles orders.proto, which lies next to this file, when the program starts.
orders_pb2, orders_pb2_grpc = grpc.protos_and_services("orders.proto")


class Orders(orders_pb2_grpc.OrdersServicer):
    """The service of orders.proto."""

    def __init__(self) -> None:
        """Numbers start at 1."""
        self._numbers = count(1)

    async def Place(self, request, context):
        """Takes an order."""
        return orders_pb2.Receipt(
            number=next(self._numbers), item=request.item, count=request.count
        )


async def serve(address: str) -> None:
    """Serves until the process is ended."""
    server = grpc.aio.server()
    orders_pb2_grpc.add_OrdersServicer_to_server(Orders(), server)
    server.add_insecure_port(address)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=50051)
    given = parser.parse_args()
    asyncio.run(serve(f"{given.host}:{given.port}"))

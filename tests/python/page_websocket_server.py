"""A server of WebSocket as readers of the pages have it: ``page_websocket_server.py --port N``.

Each message to ``/rooms/N`` is answered by three: what was said, once for each guest of
the room.
"""

from __future__ import annotations

import argparse
import json

from websockets.sync.server import ServerConnection, serve

GUESTS = 3


def main() -> None:
    """Serves until it is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    with serve(_answer, "127.0.0.1", parser.parse_args().port) as server:
        server.serve_forever()


def _answer(connection: ServerConnection) -> None:
    for message in connection:
        for guest in range(1, GUESTS + 1):
            connection.send(json.dumps({"to": guest, "message": str(message)}))


if __name__ == "__main__":
    main()

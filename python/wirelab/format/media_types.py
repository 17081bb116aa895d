"""Media types of bodies."""

from __future__ import annotations

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
"""Of Protobuf over HTTP, as most services name it; it is not registered."""

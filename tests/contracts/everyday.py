"""Two everyday contracts: an order with items, and a note that has no number."""

from __future__ import annotations

from typing import Any

from wirelab.contracts.schema import Contract, Field, Kind, Label, Message

_ITEM = Message(
    "Item",
    (
        Field("sku", "sku", 1, Kind.STRING),
        Field("quantity", "quantity", 2, Kind.INT64),
        Field("unit_price", "unitPrice", 3, Kind.DOUBLE),
        Field("gift", "gift", 4, Kind.BOOL, Label.OPTIONAL),
    ),
)
ORDER = Contract(
    package="wirelab.order.v1",
    service="OrderService",
    method="Call",
    request="Order",
    reply="OrderReply",
    messages=(
        Message(
            "Order",
            (
                Field("order_id", "order-id", 1, Kind.STRING),
                Field("customer", "customer", 2, Kind.MESSAGE, type_name="Customer"),
                Field("items", "items", 3, Kind.MESSAGE, Label.REPEATED, "Item"),
                Field("tags", "tags", 4, Kind.STRING, Label.REPEATED),
                Field("express", "express", 5, Kind.BOOL),
                Field("note", "note", 6, Kind.STRING, Label.OPTIONAL),
            ),
        ),
        Message(
            "Customer",
            (
                Field("id", "id", 1, Kind.INT64),
                Field("name", "name", 2, Kind.STRING),
            ),
        ),
        _ITEM,
        Message(
            "OrderReply",
            (
                Field("accepted", "accepted", 1, Kind.BOOL),
                Field("number", "number", 2, Kind.INT64),
                Field("total", "total", 3, Kind.DOUBLE),
                Field("items", "items", 4, Kind.MESSAGE, Label.REPEATED, "Item"),
                Field("message", "message", 5, Kind.STRING),
            ),
        ),
    ),
)
_ITEMS: Any = [
    {"sku": "A-17", "quantity": 2, "unit_price": 19.99},
    {"sku": "B-4", "quantity": 1, "unit_price": 5.5, "gift": True},
]
ORDERS: dict[str, Any] = {
    "two items": {
        "order_id": "2026-000017",
        "customer": {"id": 4711, "name": "Ada Lovelace"},
        "items": _ITEMS,
        "tags": ["new", "web"],
        "express": True,
        "note": "Leave it at the door.",
    },
    "no item": {"order_id": "2026-000018", "customer": {"id": 1, "name": ""}, "items": []},
}
ORDER_REPLY: Any = {
    "accepted": True,
    "number": 900001,
    "total": 45.48,
    "items": _ITEMS,
    "message": "Thank you.",
}

NOTE = Contract(
    package="wirelab.note.v1",
    service="NoteService",
    method="Call",
    request="Note",
    reply="Note",
    messages=(
        Message(
            "Note",
            (
                Field("title", "title", 1, Kind.STRING),
                Field("lines", "lines", 2, Kind.STRING, Label.REPEATED),
                Field("labels", "labels", 3, Kind.STRING, Label.MAP, map_key=Kind.STRING),
                Field("weights", "weights", 4, Kind.DOUBLE, Label.REPEATED),
                Field("pinned", "pinned", 5, Kind.BOOL, Label.OPTIONAL),
                Field("author", "author", 6, Kind.STRING),
                Field("place", "place", 7, Kind.STRING, Label.OPTIONAL),
            ),
        ),
    ),
)
NOTES: dict[str, Any] = {
    "a note": {"title": "Shopping", "lines": ["Milk", ""], "labels": {"colour": "red", "": "x"}},
    "an empty note": {"title": "", "pinned": False},
}
NOTE_REPLY: Any = {
    "title": "Saved",
    "lines": ["one", "", "日本"],
    "labels": {"colour": "red"},
    "pinned": True,
}
"""Without an author, which is then empty and gets digits, and without a place, which gets none."""

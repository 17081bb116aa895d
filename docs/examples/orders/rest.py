"""Orders over REST with JSON, on FastAPI. Start: ``python rest.py --port 8000``."""

import argparse
from itertools import count

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI(title="Orders")
numbers = count(1)


class Order(BaseModel):
    """What a customer wants."""

    item: str
    count: int


class Receipt(Order):
    """What was ordered, with its number."""

    number: int


@app.get("/healthz")
async def healthz() -> str:
    """Answers once the service is ready."""
    return "ok"


@app.post("/orders")
async def place(order: Order) -> Receipt:
    """Takes an order."""
    return Receipt(number=next(numbers), item=order.item, count=order.count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    uvicorn.run(app, host=given.host, port=given.port, log_level="warning")

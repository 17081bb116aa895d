"""What every contract must fulfil, whatever it was made from."""

from __future__ import annotations

from typing import NoReturn

from wirelab.contracts.names import find_json_name_problem, xml_name
from wirelab.contracts.schema import Contract, Message
from wirelab.errors import UsageError

FIELDS_MAX = 10_000
"""Of all messages of a contract."""


def refuse_fields(path: str) -> NoReturn:
    """Raises :class:`UsageError`."""
    raise UsageError(
        f"{path}: with it, the contract has more than {FIELDS_MAX:,} fields",
        "give a part of the message; objects whose keys are data make a field of each key",
    )


def check_contract(contract: Contract) -> None:
    """Raises :class:`UsageError` with the path of a field that a format cannot represent."""
    fields = 0
    for message in contract.messages:
        fields += len(message.fields)
        if fields > FIELDS_MAX:
            refuse_fields(message.name)
        _check_message(message)


def _check_message(message: Message) -> None:
    json_names, xml_names = set[str](), dict[str, str]()
    for field in message.fields:
        path = f"{message.name}.{field.name}"
        name = field.json_name
        problem = find_json_name_problem(name)
        if problem is not None:
            raise UsageError(f"{path}: the JSON name {name!r} {problem}", "rename it")
        if name in json_names:
            raise UsageError(f"{path}: another field has the JSON name {name!r}", "rename it")
        json_names.add(name)
        other = xml_names.setdefault(xml_name(name), name)
        if other != name:
            raise UsageError(
                f"{path}: {name!r} and {other!r} have the same name in XML, {xml_name(name)}",
                "rename one of the two",
            )

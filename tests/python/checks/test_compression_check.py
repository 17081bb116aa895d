"""A trial whose service declined the compression of its stack is marked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.python.synthetic_run import World, point, trial
from wirelab.checks.load import check
from wirelab.records.line import from_line, to_line
from wirelab.records.trial import Trial

STACK = "websocket@go?codec=json&compression=permessage-deflate"
AGREED = "permessage-deflate; client_no_context_takeover"


def _trial(stack: str, answers: dict[str, int]) -> Trial:
    made = trial(point(stack), 0, 1, World())
    return replace(made, result=replace(made.result, websocket_extensions=answers), checks=())


@pytest.mark.parametrize(
    ("answers", "outcome", "words"),
    [
        ({AGREED: 10}, "ok", f"10 connections with {AGREED}"),
        ({AGREED: 9, "none": 1}, "marked", "declined permessage-deflate on 1 of 10 connections"),
        ({"none": 1}, "marked", "declined permessage-deflate on 1 of 1 connection"),
        ({}, "not-measurable", "not in the record"),
    ],
)
def test_a_service_that_declines_marks_the_trial(
    answers: dict[str, int], outcome: str, words: str
) -> None:
    made = _trial(STACK, answers)
    (found,) = (one for one in check(made) if one.name == "compression")
    assert found.outcome == outcome
    assert words in found.reason
    (again,) = from_line(to_line([made]))
    assert again.result.websocket_extensions == answers


def test_other_stacks_do_not_have_the_check() -> None:
    made = _trial("websocket@go?codec=json", {})
    assert not any(one.name == "compression" for one in check(made))

"""The way from one stack to another: legal stops, one change a step, reasons for bundles."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from wirelab.errors import StackError, UsageError
from wirelab.explain.path import AXES_MAX, Step, alone, list_differing_axes, path
from wirelab.stack import manifests, operations
from wirelab.stack.reference import Stack

CATALOGUE = manifests.load()
SHIPPED = (
    "soap@rust?codec=soap-encoded&transport=http/1.0&connection=close"
    "&end_of_message=until-close&close_delay=340&server.writes=split&server.nagle=on"
)


def refusal(stack: Stack) -> str:
    try:
        CATALOGUE.manifest(stack, "transfer")
    except StackError as error:
        return error.message
    return operations.refusal("Hello", stack.axes)


def steps(a: str, b: str) -> tuple[Step, ...]:
    return path(Stack.parse(a), Stack.parse(b), refusal)


def list_changes(a: str, b: str) -> list[tuple[str, ...]]:
    return [step.axes for step in steps(a, b)]


def test_a_step_changes_one_axis_where_it_can() -> None:
    assert list_changes("rest@rust", "grpc@go") == [
        ("codec",),
        ("transport",),
        ("binding",),
        ("language",),
    ]


def test_axes_that_only_change_together_have_a_reason() -> None:
    bundle, language = steps("soap@java", "iiop@rust")
    assert set(bundle.axes) == {"codec", "transport", "binding"}
    assert language.axes == ("language",)
    assert "soap serves" in bundle.forbidden["codec"]
    assert set(bundle.forbidden) == set(bundle.axes)
    assert not language.forbidden


@pytest.mark.parametrize(
    ("a", "b"),
    list(combinations(("rest@rust", "grpc@go", "soap@java", "iiop@java", "raw@rust", SHIPPED), 2)),
)
def test_every_stop_exists_and_no_axis_changes_twice(a: str, b: str) -> None:
    made = steps(a, b)
    assert made[0].before == Stack.parse(a)
    assert made[-1].after == Stack.parse(b)
    for before, after in pairwise(made):
        assert before.after == after.before
        assert not refusal(before.after)
    axes = [name for step in made for name in step.axes]
    assert sorted(axes) == sorted(list_differing_axes(Stack.parse(a), Stack.parse(b)))
    for step in made:
        assert set(list_differing_axes(step.before, step.after)) == set(step.axes)


def test_a_stack_has_no_way_to_itself() -> None:
    with pytest.raises(UsageError, match="the same stack"):
        steps("rest@go", "rest@go?codec=json")


def test_too_many_differences_are_refused() -> None:
    far = f"{SHIPPED}&client.writes=split&client.nagle=on&client.quickack=off&work=frame"
    near = "iiop@go"
    assert len(list_differing_axes(Stack.parse(far), Stack.parse(near))) > AXES_MAX
    with pytest.raises(UsageError, match="at most 10"):
        steps(far, near)


def test_a_step_alone_and_back() -> None:
    made = steps("rest@rust", "grpc@go")
    language = made[-1]
    first, _ = alone(made[0].before, language, back=False, refusal=refusal)
    last, _ = alone(made[-1].after, language, back=True, refusal=refusal)
    assert str(first) == "rest@go"
    assert str(last) == "grpc@rust"
    binding = made[2]
    illegal, why = alone(made[0].before, binding, back=False, refusal=refusal)
    assert illegal is None
    assert "cannot exist" in why

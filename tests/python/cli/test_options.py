"""Values that options of the command line accept."""

from __future__ import annotations

import pytest

from wirelab.cli import main


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "rest@rust", "grpc@rust", "--rate"],
        ["diff", "first", "second", "--threshold"],
        ["history", "run", "--alpha"],
        ["mcp", "--rate"],
        ["parse", "--threshold"],
        ["reproduce", "hamo2023", "--scale"],
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_number_in_a_range_is_finite(
    arguments: list[str], number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, number]) == 2
    assert f"Invalid value for '{arguments[-1]}': {number} is not " in capsys.readouterr().err

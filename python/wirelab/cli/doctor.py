"""``wirelab doctor``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code


@click.command()
@click.option(
    "--self-test",
    is_flag=True,
    help="Also run the self-tests (about 6 minutes). Exit code 0: all hold, 1: one fails, "
    "5: one is undecided.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@exit_with_code
def doctor(self_test: bool, as_json: bool) -> int:
    """Report what this machine can and cannot measure."""
    from wirelab.cli.output import doctor as examined

    return examined.run(self_test=self_test, as_json=as_json)

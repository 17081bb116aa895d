"""``wirelab verify``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import POSTGRES, READY_TIMEOUT
from wirelab.errors import UsageError


@click.command()
@click.argument("references", nargs=-1, metavar="[REF…]", help="Services, e.g. rest@go.")
@click.option(
    "--all",
    "all_of_them",
    is_flag=True,
    help="Verify every service, codec, transport … of every manifest.",
)
@click.option("--contract", metavar="NAME", help="Verify only this contract.")
@click.option(
    "--deep", is_flag=True, help="Also run the slow checks, such as limits of a million elements."
)
@POSTGRES
@READY_TIMEOUT
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@exit_with_code
def verify(
    references: tuple[str, ...],
    all_of_them: bool,
    contract: str | None,
    deep: bool,
    postgres: str,
    ready_timeout_s: float | None,
    as_json: bool,
) -> int:
    """Check that services behave exactly like the canonical model."""
    if bool(references) == all_of_them:
        raise UsageError("name services, or --all", "for example `wirelab verify rest@go`")
    from wirelab.cli.output import verify as verified

    return verified.run(
        references,
        contract,
        deep=deep,
        postgres=postgres,
        ready_timeout_s=ready_timeout_s,
        as_json=as_json,
    )

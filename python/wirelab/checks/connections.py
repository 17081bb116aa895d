"""How many connections a trial may have had by the policy that its stack declares."""

from __future__ import annotations

from math import ceil

from wirelab.trial.record import Trial


def expected(trial: Trial, policy: str) -> tuple[int, int] | None:
    """Fewest and most connections that the policy allows without an error; None where it fixes
    no number under the trial's load."""
    users = trial.point.load.get("users")
    if policy == "close":
        calls = int(trial.result.get("calls_whole_run") or 0)
        return calls, calls
    if policy.startswith("pool="):
        pool = int(policy.removeprefix("pool="))
        return (pool if users is None else min(pool, int(users))), pool
    if policy != "keep" or users is None:
        return None
    _, _, shared = trial.point.axes.get("in_flight", "1").partition("=")
    # A foreign tool warms up in a run of its own, with connections of its own.
    runs = int(trial.engine.get("runs", 1))
    return runs * ceil(int(users) / int(shared or 1)), runs * int(users)


def unfixed(policy: str) -> str:
    """Why nothing is expected, in words."""
    return f"{policy} fixes no number of connections in an open load"


def spare(trial: Trial) -> int:
    """Connections beyond those: a failed call may cost its own, and another one is opened."""
    return int(trial.result.get("errors") or 0)

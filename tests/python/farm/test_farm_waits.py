"""How long hosts of a real Ray take for trials that wait without CPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("ray", reason="Ray is not installed")
TRIALS, TRIAL_S, HOSTS = 48, 1.5, 4


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("no_orphans")
def test_four_hosts_take_a_quarter_of_the_time_and_ten_per_cent() -> None:
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root")
    inner = f"ip link set lo up && exec {sys.executable} -m tests.python.farm_waits"
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", f"{inner} {TRIALS} {TRIAL_S}"],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
    )
    assert done.returncode == 0, done.stderr
    took_s = float(done.stdout.split("took ")[1].split()[0])
    print(f"{took_s:.2f} s for {TRIALS * TRIAL_S / HOSTS:.0f} s of trials on each host")
    assert took_s <= 1.10 * TRIALS * TRIAL_S / HOSTS

"""The load of a script of k6: its options and scenarios
(https://grafana.com/docs/k6/latest/using-k6/scenarios/executors/)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirelab.imports import load_script
from wirelab.imports.k6_syntax import Scope, Unsupported, Value, line_of, pairs_of, parts
from wirelab.imports.load_script import Group, Stage
from wirelab.imports.operation import LeftOut

if TYPE_CHECKING:
    from tree_sitter import Node

DEFAULT = "default"
"""Of the function that users repeat, and of the scenario of the short options."""
SHORT = ("vus", "duration", "iterations", "stages")
"""Options that are one scenario."""
UNSENT = {
    "thresholds": "bounds of a run: give them to `wirelab run --fail-if`",
    "noConnectionReuse": "connections: write axes: {connection: [close]}",
    "insecureSkipTLSVerify": "certificates: write tls: {insecure: true} in the service",
    **dict.fromkeys(
        ("summaryTrendStats", "summaryTimeUnit", "tags", "systemTags", "noUsageReport", "cloud"),
        "the report is made by wirelab",
    ),
    **dict.fromkeys(("setupTimeout", "teardownTimeout", "throw", "ext"), "it has no effect here"),
    "discardResponseBodies": "every reply is read",
}
"""Options that change no request, and why they are left out."""
OF_A_SCENARIO = ("gracefulStop", "gracefulRampDown", "tags")
"""Keys of a scenario that change no request."""
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)(ms|h|m|s|d))")
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Settings:
    """Keys of an object with numbers and times."""

    at: Node | None
    """The object; None of a script without options."""
    nodes: dict[str, Node]
    scope: Scope

    @classmethod
    def of(cls, node: Node, scope: Scope) -> Settings:
        """Raises :class:`Unsupported`."""
        return cls(node, dict(pairs_of(node)), scope)

    def value(self, key: str) -> Value:
        """None of a key that is not there. Raises :class:`Unsupported`."""
        return self.scope.read(self.nodes[key]) if key in self.nodes else None

    def number(self, key: str, default: float | None = None) -> float:
        """Raises :class:`Unsupported`."""
        value = self.value(key)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise Unsupported(self.nodes.get(key, self.at), f"{key} is not a number")
        return value

    def count(self, key: str, default: int | None = None, least: int = 1) -> int:
        """Raises :class:`Unsupported`."""
        value = self.number(key, default)
        if value != int(value) or value < least:
            raise Unsupported(self.nodes.get(key, self.at), f"{key} is not a whole number")
        return int(value)

    def seconds(self, key: str, default: float | None = None) -> float:
        """A time such as ``1m30s``; a number has milliseconds. Raises :class:`Unsupported`."""
        value = self.value(key)
        if value is None and default is not None:
            return default
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
            return value / 1e3
        parts_ = _DURATION.findall(value) if isinstance(value, str) else []
        if not parts_ or "".join(f"{number}{unit}" for number, unit in parts_) != value:
            raise Unsupported(self.nodes.get(key, self.at), f"{key} is not a time")
        return sum(float(number) * _SECONDS[unit] for number, unit in parts_)

    def stages(self) -> list[Stage]:
        """Raises :class:`Unsupported`."""
        node = self.nodes.get("stages")
        if node is None or node.type != "array":
            raise Unsupported(node or self.at, "stages are not a list")
        listed = [Settings.of(one, self.scope) for one in parts(node)]
        return [Stage(one.number("target"), one.seconds("duration")) for one in listed]


@dataclass(frozen=True)
class Scenario:
    """Users, or arrivals, that repeat a function."""

    name: str
    place: str
    function: str
    executor: str
    settings: Settings

    def write_load(self, group: Group) -> None:
        """Sets the keys of the group. Raises :class:`Unsupported`."""
        _EXECUTORS[self.executor](self, group)
        if group.pause_s and self.executor.endswith("arrival-rate"):
            group.notes.append("sleep() does not change when requests begin, and is left out.")
        elif group.pause_s and len(group.operations) > 1:
            group.notes.append("The pauses of an iteration are one pause at its end.")

    def _constant_users(self, group: Group) -> None:
        users, seconds = self.settings.count("vus", 1), self.settings.seconds("duration")
        group.keys = load_script.users_for(users, seconds, group.pause_s)

    def _ramp_users(self, group: Group) -> None:
        settings = self.settings
        first = settings.count("startVUs" if "startVUs" in settings.nodes else "vus", 1, least=0)
        # Stages of an experiment begin with no users.
        before = [Stage(first, 0.0)] if first else []
        stages = [*before, *settings.stages()]
        load_script.check_stages(len(stages), self.place)
        group.keys = load_script.users_in_stages(stages, group.pause_s)

    def _share_iterations(self, group: Group) -> None:
        users, iterations = self.settings.count("vus", 1), self.settings.count("iterations", 1)
        group.keys = load_script.users_who_share(users, iterations, self._max_s, group.pause_s)
        group.is_bounded = True

    def _iterations_each(self, group: Group) -> None:
        users, each = self.settings.count("vus", 1), self.settings.count("iterations", 1)
        group.keys = load_script.users_with_iterations(users, each, group.pause_s, self._max_s)
        group.is_bounded = True

    def _constant_rate(self, group: Group) -> None:
        rate = self.settings.number("rate") / self._unit_s
        seconds = self.settings.seconds("duration")
        group.keys = load_script.calls_at_rate(rate, self._limit_in_flight(group), seconds)

    def _ramp_rate(self, group: Group) -> None:
        start = self.settings.number("startRate", 0.0) / self._unit_s
        stages = [Stage(one.target / self._unit_s, one.seconds) for one in self.settings.stages()]
        load_script.check_stages(len(stages), self.place)
        group.keys = load_script.calls_in_stages(start, stages, self._limit_in_flight(group))

    @property
    def _max_s(self) -> float:
        """The time limit of a number of iterations."""
        key = "maxDuration" if "maxDuration" in self.settings.nodes else "duration"
        return self.settings.seconds(key, load_script.CALLS_S_MAX)

    @property
    def _unit_s(self) -> float:
        unit_s = self.settings.seconds("timeUnit", 1.0)
        if unit_s <= 0:
            raise Unsupported(self.settings.nodes["timeUnit"], "timeUnit is 0")
        return unit_s

    def _limit_in_flight(self, group: Group) -> int:
        group.is_bounded = True
        group.notes.append("k6 drops an iteration for which no VU is free; here it waits.")
        least = self.settings.count("preAllocatedVUs")
        return self.settings.count("maxVUs", least)


_EXECUTORS = {
    "constant-vus": Scenario._constant_users,
    "ramping-vus": Scenario._ramp_users,
    "shared-iterations": Scenario._share_iterations,
    "per-vu-iterations": Scenario._iterations_each,
    "constant-arrival-rate": Scenario._constant_rate,
    "ramping-arrival-rate": Scenario._ramp_rate,
}
_KEYS = {
    "constant-vus": {"vus", "duration"},
    "ramping-vus": {"startVUs", "stages"},
    "shared-iterations": {"vus", "iterations", "maxDuration"},
    "per-vu-iterations": {"vus", "iterations", "maxDuration"},
    "constant-arrival-rate": {"rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"},
    "ramping-arrival-rate": {"startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"},
}


def read_scenarios(
    options: Node | None, scope: Scope, file: str
) -> tuple[list[Scenario], list[LeftOut]]:
    """The scenarios of a script, and options that change no request. ``file`` is for messages.
    Raises :class:`Unsupported`."""
    if options is None:
        return [_short(Settings(None, {}, scope), file)], []
    settings = Settings.of(options, scope)
    left_out = []
    for key, node in settings.nodes.items():
        if key in UNSENT:
            left_out.append(LeftOut(f"{file}:{line_of(node)}: options.{key}", UNSENT[key]))
        elif key != "scenarios" and key not in SHORT:
            raise Unsupported(node, f"options.{key[:80]}")
    if "scenarios" not in settings.nodes:
        return [_short(settings, f"{file}:{line_of(options)}")], left_out
    named = pairs_of(settings.nodes["scenarios"])
    return [_scenario(name, Settings.of(node, scope), file) for name, node in named], left_out


def _short(settings: Settings, place: str) -> Scenario:
    """The scenario of ``vus``, ``duration``, ``iterations`` and ``stages``."""
    given = settings.nodes
    if "stages" in given:
        executor = "ramping-vus"
    elif "iterations" in given:
        executor = "shared-iterations"
    elif "duration" in given:
        executor = "constant-vus"
    else:
        # VUs alone have no effect.
        executor = "per-vu-iterations"
        settings = Settings(settings.at, {}, settings.scope)
    return Scenario(DEFAULT, place, DEFAULT, executor, settings)


def _scenario(name: str, settings: Settings, file: str) -> Scenario:
    executor = settings.value("executor")
    if not isinstance(executor, str) or executor not in _EXECUTORS:
        node = settings.nodes.get("executor", settings.at)
        raise Unsupported(node, f"the executor {str(executor)[:80]}")
    for key, node in settings.nodes.items():
        known = {"executor", "exec", *OF_A_SCENARIO, *_KEYS[executor]}
        if key not in known:
            raise Unsupported(node, f"{key[:80]} of a scenario with {executor}")
    function = settings.value("exec")
    place = f"{file}:{line_of(settings.at)}" if settings.at is not None else file
    return Scenario(name, place, str(function or DEFAULT), executor, settings)

"""Test plans of Apache JMeter (``.jmx``): HTTP requests, users, and rows of CSV files.

Elements are found by their scope: configuration and timers apply to every sampler beneath the
element that they are in (https://jmeter.apache.org/usermanual/test_plan.html#scoping_rules). What
is not understood is left out by its name and line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from wirelab.imports import jmeter_rows, jmx_tree, load_script
from wirelab.imports.beneath import ContentFiles
from wirelab.imports.budget import Budget
from wirelab.imports.http_request import NotImportable
from wirelab.imports.jmeter_request import Sampler, Surroundings
from wirelab.imports.jmeter_rows import Rows
from wirelab.imports.jmeter_values import Values
from wirelab.imports.jmx_tree import Element
from wirelab.imports.load_script import Group, Stage
from wirelab.imports.operation import Imported, LeftOut
from wirelab.imports.source import Text

SAMPLERS = {"HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2"}
DEFAULTS = "HttpDefaultsGui"
"""Form of HTTP Request Defaults, which share their class with other configuration."""
PASSED_THROUGH = {"GenericController", "TransactionController", "TestPlan"}
"""Elements whose samplers run once for each iteration, in their order."""
SILENT = {
    *("ResultCollector", "Summariser", "BackendListener", "ViewResultsFullVisualizer"),
    *("DebugPostProcessor", "Arguments", "UserParameters"),
}
"""Elements that send nothing and change no request; variables are read before."""
REPLIES = "values of replies are not read: see `carry`"
CHECKS = "replies are checked by their status: see `expect`"
WHY = {
    "SetupThreadGroup": "it runs once before the load: see `prepare` and `steps`",
    "PostThreadGroup": "it runs once after the load",
    "CookieManager": "cookies of replies are not sent again",
    "CacheManager": "nothing is taken from a cache",
    "AuthManager": "credentials are secrets: write them in the headers of the service",
    "LoopController": "a loop in an iteration is not imported",
    "OnceOnlyController": "its requests are made once by each user, before the others",
    "JSONPostProcessor": REPLIES,
}
"""Why elements of a kind are left out."""
WHY_BY_END = {
    "Timer": "pauses that vary are not imported: see `think`",
    "Controller": "what it runs is decided while JMeter runs",
    "Extractor": REPLIES,
    "Assertion": CHECKS,
    "Processor": "scripts are not run",
    "Sampler": "only HTTP requests are imported",
}
"""The same by the end of a kind's name."""


def read(text: Text, only: str | None = None, *, any_file: bool = False) -> Imported:
    """The requests that the shell pattern ``only`` matches, of the first thread group that has one.
    Raises :class:`UsageError`."""
    plan = jmx_tree.read(text)
    budget = Budget(text.name)
    reader = _Reader(Values(budget), budget, ContentFiles(text.folder or Path(), any_file))
    reader.define_variables(plan)
    for one in plan:
        reader.enter(one, Surroundings(), None)
    title = next((one.name for one in plan if one.kind == "TestPlan" and one.name), text.stem)
    source = f"JMeter test plan {title!r}, {text.name}"
    return load_script.select(reader.groups, only, title, source, reader.left_out)


@dataclass
class _Reader:
    values: Values
    budget: Budget
    files: ContentFiles
    groups: list[Group] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    rows: Rows | None = None
    """Of the group that is read."""

    def define_variables(self, elements: Iterable[Element]) -> None:
        """User-defined variables, wherever they are: JMeter reads them at its start."""
        for one in elements:
            if not one.is_enabled:
                continue
            if one.kind == "Arguments":
                self._define(one.list_items("Arguments.arguments"))
            elif one.kind == "TestPlan":
                path = ("TestPlan.user_defined_variables", "Arguments.arguments")
                self._define(one.list_items(*path))
            self.define_variables(one.children)

    def _define(self, arguments: list[Element]) -> None:
        for one in arguments:
            value = one.properties.get("Argument.value", "")
            self.values.define(one.text("Argument.name"), value)

    def enter(self, element: Element, around: Surroundings, group: Group | None) -> None:
        """An element and what is beneath it."""
        if not element.is_enabled or _is_silent(element):
            return
        if element.kind in SAMPLERS and group is not None:
            self._add_request(element, self._configure(element, around), group)
        elif element.kind == "ThreadGroup":
            self._add_group(element, around)
        elif element.kind in PASSED_THROUGH or _is_single_loop(element):
            self._descend(element, around, group)
        else:
            self.left_out.append(LeftOut(element.title, _reason(element)))

    def _descend(self, element: Element, around: Surroundings, group: Group | None) -> None:
        inner = self._configure(element, around)
        for one in element.children:
            if not _is_configuration(one):
                self.enter(one, inner, group)

    def _configure(self, element: Element, around: Surroundings) -> Surroundings:
        """With the configuration and the timers in the element."""
        for one in element.children:
            if not one.is_enabled or not _is_configuration(one):
                continue
            try:
                around = self._with(one, around)
            except NotImportable as reason:
                self.left_out.append(LeftOut(one.title, str(reason)))
        return around

    def _with(self, one: Element, around: Surroundings) -> Surroundings:
        if one.gui == DEFAULTS:
            return around.with_defaults(one)
        if one.kind == "HeaderManager":
            return around.with_headers(one)
        if one.kind == "ConstantTimer":
            delay_ms = self.values.count(one.text("ConstantTimer.delay", "0"), "its delay")
            return replace(around, pause_s=around.pause_s + max(delay_ms, 0) / 1e3)
        if around.rows is not None:
            raise NotImportable("one file of rows is read for a request, and there is another")
        return replace(around, rows=jmeter_rows.read(one, self.values, self.files))

    def _add_group(self, element: Element, around: Surroundings) -> None:
        """A thread group; its timers are read with its requests, so that the load is last."""
        group = Group(element.name or "users", element.place, {}, is_bounded=False)
        self.rows = None
        self._descend(element, around, group)
        try:
            self._make_load(element, group)
        except NotImportable as reason:
            self.left_out.append(LeftOut(element.title, str(reason)))
        else:
            self.groups.append(group)

    def _add_request(self, element: Element, around: Surroundings, group: Group) -> None:
        self.budget.where = element.title
        self.budget.add_operation()
        for one in element.children:
            if not _is_configuration(one):
                self.enter(one, around, None)
        rows = around.rows
        self.values.columns = rows.columns if rows else frozenset()
        try:
            if None not in (rows, self.rows) and rows is not self.rows:
                raise NotImportable("its rows are others than those of the requests before it")
            operation = Sampler(element, around, self.values, self.files).read_request().operation()
        except NotImportable as reason:
            self.left_out.append(LeftOut(element.title, str(reason)))
            return
        self.budget.take_message(operation)
        group.add(operation)
        group.pause_s += around.pause_s
        if rows is not None:
            self.rows, group.data, group.files = rows, rows.data, rows.files
            group.notes += rows.notes

    def _make_load(self, element: Element, group: Group) -> None:
        """Raises :class:`NotImportable`."""
        _Threads.of(element, self.values).write_load(group)
        if group.pause_s > 0 and len(group.operations) > 1:
            group.notes.append("The timers of an iteration are one pause at its end.")
        for name, value in self.values.properties.items():
            group.notes.append(f"Property {name} has its default, {value}.")


def _reason(element: Element) -> str:
    """Why it is left out."""
    if element.kind in SAMPLERS:
        return "it is in no thread group"
    of_end = (why for end, why in WHY_BY_END.items() if element.kind.endswith(end))
    return WHY.get(element.kind) or next(of_end, "it is not known")


def _is_configuration(element: Element) -> bool:
    kinds = ("HeaderManager", "ConstantTimer", "CSVDataSet")
    return element.kind in kinds or element.gui == DEFAULTS


def _is_silent(element: Element) -> bool:
    return element.kind in SILENT or element.kind.endswith(("Visualizer", "Listener"))


def _is_single_loop(element: Element) -> bool:
    """Whether it is a loop of one iteration."""
    return element.kind == "LoopController" and element.text("LoopController.loops") == "1"


@dataclass(frozen=True)
class _Threads:
    """Users of a thread group."""

    users: int
    ramp_s: int
    loops: int | None
    """None: until its time is over, or somebody stops it."""
    seconds: int | None
    is_delayed: bool

    @classmethod
    def of(cls, element: Element, values: Values) -> _Threads:
        """Raises :class:`NotImportable`."""

        def count(name: str, default: str, what: str) -> int:
            return values.count(element.text(f"ThreadGroup.{name}", default) or default, what)

        users = count("num_threads", "1", "its number of users")
        ramp_s = max(count("ramp_time", "0", "its ramp-up"), 0)
        seconds = delay_s = None
        if element.is_set("ThreadGroup.scheduler"):
            seconds = count("duration", "0", "its duration")
            delay_s = count("delay", "0", "its delay")
        controller = element.part("ThreadGroup.main_controller")
        loops = 1
        if controller is not None:
            given = controller.text("LoopController.loops", "1") or "1"
            is_endless = controller.is_set("LoopController.continue_forever", default=True)
            loops = -1 if is_endless else values.count(given, "its number of loops")
        if users < 1:
            raise NotImportable("it has no users")
        if loops == 0:
            raise NotImportable("its users make 0 loops")
        seconds = seconds if seconds and seconds > 0 else None
        return cls(users, ramp_s, loops if loops > 0 else None, seconds, bool(delay_s))

    def write_load(self, group: Group) -> None:
        """Sets the keys of the group, with notes on what differs."""
        if self.is_delayed:
            group.notes.append("The delay before the start is left out.")
        if self.loops is not None and self.seconds is None:
            group.keys = load_script.users_with_iterations(self.users, self.loops, group.pause_s)
            group.is_bounded = True
            if self.ramp_s:
                group.notes.append(
                    f"The ramp-up of {self.ramp_s} s is left out: all users begin at once."
                )
            return
        if self.loops is not None:
            group.notes.append(f"Users end after {self.seconds} s, not after {self.loops} loops.")
        if self.seconds is None:
            group.notes.append("JMeter runs until it is stopped: choose a length of the window.")
        self._write_duration(group)

    def _write_duration(self, group: Group) -> None:
        if not self.ramp_s:
            seconds = self.seconds or load_script.FOREVER_S
            group.keys = load_script.users_for(self.users, seconds, group.pause_s)
            return
        seconds = self.seconds or self.ramp_s + load_script.FOREVER_S
        reached = min(1.0, seconds / self.ramp_s)
        stages = [Stage(max(1, round(self.users * reached)), min(self.ramp_s, seconds))]
        if seconds > self.ramp_s:
            stages.append(Stage(self.users, seconds - self.ramp_s))
        group.keys = load_script.users_in_stages(stages, group.pause_s)

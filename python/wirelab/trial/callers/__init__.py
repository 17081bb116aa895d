"""Callers of a trial: the engine, a language's own client libraries, or a third-party load tool."""

from __future__ import annotations

from wirelab.stack.axes import CLIENTS, ENGINE
from wirelab.trial.callers.caller import Called as Called
from wirelab.trial.callers.caller import Caller as Caller
from wirelab.trial.callers.caller import CallerPlace as CallerPlace
from wirelab.trial.callers.client import ClientCaller
from wirelab.trial.callers.clients import ClientsCaller
from wirelab.trial.callers.engine import EngineCaller
from wirelab.trial.callers.tool import ToolCaller
from wirelab.trial.setup import TrialSetup


def choose_caller(setup: TrialSetup) -> Caller:
    """The caller that the axis of the trial names."""
    name = setup.axes.caller
    if name == ENGINE:
        pool = setup.lab.clients
        return EngineCaller(setup) if pool is None else ClientsCaller(setup, pool)
    return ClientCaller(setup) if name in CLIENTS else ToolCaller(setup)

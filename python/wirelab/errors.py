"""Everything that can go wrong in the lab itself, as one tree.

::

    WirelabError
    ├── UsageError              exit 2   the user asked for something impossible
    │   ├── UnitError                    a size or a time without a unit that exists
    │   ├── StackError                   a stack reference that is not legal
    │   ├── ExperimentError              an experiment file with problems
    │   └── RunDirectoryError            a run directory that cannot be used so
    ├── LabError                exit 3   the lab cannot do its work
    │   ├── EngineMissing                no engine binary
    │   ├── EngineRefused                the engine refused a plan, or broke its contract
    │   ├── BuildError                   a service could not be built
    │   └── ToolMissing                  a foreign load tool could not be had
    ├── StorageError            exit 4   nothing more can be written (full disk)
    └── Interrupted             exit 130 Ctrl-C or SIGTERM

    TrialFailed                          one trial measured nothing; data, not an end

What goes wrong in a measured system is no exception: it is counted in the result.
"""

from __future__ import annotations

EXIT_OK = 0
"""Everything that was asked for was done."""
EXIT_FAILED = 1
"""Done, but trials or calls failed, or what was tested does not hold; the result has it."""
EXIT_USAGE = 2
"""A wrong option, file or reference; nothing was started."""
EXIT_LAB = 3
"""The lab itself failed."""
EXIT_STORAGE = 4
"""Nothing more could be written; what was measured before is kept."""
EXIT_UNDECIDED = 5
"""What was tested is undecided: it neither holds nor fails."""
EXIT_INTERRUPTED = 130
"""Ctrl-C or SIGTERM; finished trials are kept."""

EXIT_BY_VERDICT = {
    "holds": EXIT_OK,
    "does not hold": EXIT_FAILED,
    "undecided": EXIT_UNDECIDED,
    None: EXIT_OK,
}
"""Of commands that test something; None where there was nothing to test."""


class WirelabError(Exception):
    """Base of all: a message that names what is at fault, and what to do about it."""

    exit_code = EXIT_LAB

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  {self.remedy}" if self.remedy else self.message


class UsageError(WirelabError):
    """The user asked for something impossible."""

    exit_code = EXIT_USAGE


class UnitError(UsageError):
    """A size or a time that cannot be read."""


class StackError(UsageError):
    """A stack reference that is not legal; the remedy names the nearest legal one."""


class ExperimentError(UsageError):
    """An experiment file with problems, each a line ``file:line: key: problem``."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RunDirectoryError(UsageError):
    """A run directory that is in use, or belongs to another experiment."""


class LabError(WirelabError):
    """The lab cannot do its work."""

    exit_code = EXIT_LAB


class EngineMissing(LabError):
    """No engine binary was found."""


class EngineRefused(LabError):
    """The engine refused a plan, or broke its contract."""


class BuildError(LabError):
    """A service could not be built, or what it needs is not installed."""


class ToolMissing(LabError):
    """A foreign load tool or a proxy is not there and could not be installed."""


class StorageError(WirelabError):
    """Nothing more can be written."""

    exit_code = EXIT_STORAGE


class Interrupted(WirelabError):
    """Ctrl-C or SIGTERM."""

    exit_code = EXIT_INTERRUPTED


class TrialFailed(Exception):
    """One trial measured nothing. Its reason is journalled and the run goes on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

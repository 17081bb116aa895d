"""All errors of wirelab itself, as one tree.

::

    WirelabError
    ├── UsageError              exit 2   the user requested something impossible
    │   ├── UnitError                    a size or a time without a unit that exists
    │   ├── StackError                   an illegal stack reference
    │   ├── ExperimentError              an experiment file with problems
    │   ├── ImportLimit                  a document that costs more than an import may
    │   └── RunDirectoryError            a run directory that cannot be used
    ├── LabError                exit 3   wirelab cannot do its work
    │   ├── EngineMissing                no engine binary
    │   ├── EngineRefused                the engine refused a plan, or violated its contract
    │   ├── BuildError                   a service could not be built
    │   │   └── NotInstalled             its companion package is missing
    │   └── ToolMissing                  a third-party load tool is not available
    ├── StorageError            exit 4   output cannot be written (full disk)
    └── Interrupted             exit 130 Ctrl-C or SIGTERM

    TrialFailed                          one trial failed; recorded, the run continues

Failures of a measured system are not exceptions: they are counted in the result.
"""

from __future__ import annotations

EXIT_OK = 0
"""Success."""
EXIT_FAILED = 1
"""Finished, but trials or calls failed, or a test does not hold; see the result."""
EXIT_USAGE = 2
"""A wrong option, file or reference; nothing was started."""
EXIT_LAB = 3
"""wirelab itself failed."""
EXIT_STORAGE = 4
"""Output could not be written; earlier measurements are kept."""
EXIT_UNDECIDED = 5
"""A test is undecided: it neither holds nor fails."""
EXIT_INTERRUPTED = 130
"""Ctrl-C or SIGTERM; finished trials are kept."""

EXIT_BY_VERDICT = {
    "holds": EXIT_OK,
    "does not hold": EXIT_FAILED,
    "undecided": EXIT_UNDECIDED,
    None: EXIT_OK,
}
"""Exit codes of commands that test something; None: there was nothing to test."""


class WirelabError(Exception):
    """Base class: a message that names the problem and its cause, and a remedy."""

    exit_code = EXIT_LAB

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  {self.remedy}" if self.remedy else self.message


class UsageError(WirelabError):
    """The user requested something impossible."""

    exit_code = EXIT_USAGE


class UnitError(UsageError):
    """A size or a time that cannot be parsed."""


class StackError(UsageError):
    """An illegal stack reference; the remedy names the nearest legal one."""


class ExperimentError(UsageError):
    """An experiment file with problems, one line ``file:line: key: problem`` each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class ImportLimit(UsageError):
    """A document that costs more time or memory than an import may; names the limit."""


class RunDirectoryError(UsageError):
    """A run directory that is in use, or contains a different experiment."""


class LabError(WirelabError):
    """wirelab cannot do its work."""

    exit_code = EXIT_LAB


class EngineMissing(LabError):
    """No engine binary was found."""


class EngineRefused(LabError):
    """The engine refused a plan, or violated its contract."""


class BuildError(LabError):
    """A service could not be built, or a program that it needs is not installed."""


class NotInstalled(BuildError):
    """Without a checkout, a service comes from a package that is not installed or does not fit."""


class ToolMissing(LabError):
    """A third-party load tool or a proxy is missing and could not be installed."""


class StorageError(WirelabError):
    """Output cannot be written any more."""

    exit_code = EXIT_STORAGE


class Interrupted(WirelabError):
    """Ctrl-C or SIGTERM."""

    exit_code = EXIT_INTERRUPTED


class TrialFailed(Exception):
    """One trial failed. The journal records its reason, and the run continues."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

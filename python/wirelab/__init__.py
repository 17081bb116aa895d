"""A laboratory for wire protocols. ``wirelab`` is a command; ``__version__`` is its version.

Nothing is imported here: every command pays for what its package imports.
"""

from __future__ import annotations

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """PEP 562: the version of the installed package, read when it is first asked for."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version(__name__)

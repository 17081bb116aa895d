"""Suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``Did you mean 'users'? Known: think, users.``, or only the list if no name is similar."""
    from difflib import get_close_matches  # imported only for errors

    names = sorted(known)
    lower = {name.lower(): name for name in names}
    near = get_close_matches(word.lower(), list(lower), n=1, cutoff=0.6)
    listing = f"Known: {', '.join(names)}." if names else "There are none."
    return f"Did you mean {lower[near[0]]!r}? {listing}" if near else listing

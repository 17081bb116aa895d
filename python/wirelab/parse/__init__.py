"""Parsers of messages against each other: ``wirelab parse``.

:mod:`catalogue` names the parsers, :mod:`documents` reads what they are given, :mod:`harness`
builds and starts the programs that time them, :mod:`trials` runs these in a random order, and
:mod:`results` makes figures with intervals of what they measured.
"""

"""Compares parsers of messages: ``wirelab parse``.

:mod:`catalogue` lists the parsers, :mod:`documents` reads the documents, :mod:`harness` builds and
starts the programs that time the parsers, :mod:`trials` runs them in random order, and
:mod:`results` computes figures with intervals.
"""

"""How well `wirelab wrap` judges load tools: tools against servers whose own log is the truth.

``python -m bench.judge`` runs every installed tool against every server under ``wirelab wrap``, and
writes the table of docs/reference/wrap.md. What has been measured is kept in bench/out/judge, so
that an interrupted run goes on where it stopped.
"""

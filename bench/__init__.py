"""The engine compared with common load tools, in one run on one machine.

Figures differ from machine to machine; only ratios of runs that alternate on
the same server count. `python -m bench.run` (`make bench`) prints them, saves
every raw figure under bench/out/ and fails when a bound is broken.
"""

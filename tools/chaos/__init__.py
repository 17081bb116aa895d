"""Random failures under a lab that measures: ``make chaos``.

Every round starts real commands on a server of its own, disturbs them, repeats the command where a
user would, and then compares what was kept with what the server itself wrote down.
"""

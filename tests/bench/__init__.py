"""How long runs and placements take and cost, on a real hub with simulated members.

`make bench`, or `python -m tests.bench --help`. Never part of the tests: the figures belong to
the machine and to what else it does, so they are printed with its load.
"""

"""How long runs, placements and typed commands take and cost, on a real hub.

`make bench`, or `python -m tests.bench --help`. Never part of the tests: the figures belong to
the machine and to what else it does, so they are printed with its load.
"""

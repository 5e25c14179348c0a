"""Benchmarks: the time and cost of runs, placements and commands on a real hub.

`make bench`, or `python -m tests.bench --help`. Never part of the tests: the figures depend on the
machine and on what else it does, so they are printed with its load.
"""

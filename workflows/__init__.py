"""Durable rollouts: loops over stages, bounded parallelism, timers, messages.

Workflows do no I/O, never import `hub`, and read no clock but the workflow's and no environment
variables.
"""

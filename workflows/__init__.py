"""The durable rollouts: loops over stages, bounded parallelism, timers, messages.

No I/O, no import of `hub`, no clock but the workflow's, no environment variable.
"""

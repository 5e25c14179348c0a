"""Runs survive failures of the hub, the network, workers and Temporal, with the usual result.

The faults are real where possible (servers killed, paused and restarted, a compacted store); the
others are injected by a proxy between the engine and a real hub.
"""

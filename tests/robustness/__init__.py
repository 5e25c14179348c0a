"""Runs on a hub, a network, workers and a Temporal that fail: each case ends as if they had not.

The faults are real where they can be (servers killed, paused and restarted, a compacted store);
the others are made by a proxy between the engine and a real hub.
"""

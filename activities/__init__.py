"""Every effect that a workflow requests, each one small idempotent async function.

An activity never loops over stages: the workflow decides what comes next.
"""

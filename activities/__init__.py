"""Every effect that a workflow asks for, one small idempotent async function each.

An activity never loops over stages: what comes next is the workflow's decision.
"""

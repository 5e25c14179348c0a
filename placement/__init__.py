"""Built-in placement on the hub.

Selects, snapshots, schedules, binds, renders Works and reports the status of placements. Does
not know Temporal, and nothing outside may depend on it being there: another system may do all
this. Must not import `bridge`, `workflows`, `activities` or `agent`.

Import from its modules: `fleetgate plan` takes `placement.snapshots` and need not load the rest.
"""

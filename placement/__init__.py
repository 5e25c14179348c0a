"""Built-in placement on the hub.

Selects and snapshots content, schedules, binds, renders Works and reports the status of placements.
Does not use Temporal. No other package may rely on it running: another system may do the same job.
Must not import `bridge`, `workflows`, `activities` or `agent`.

Import from its modules: `fleetgate plan` needs `placement.snapshots` and should not load the rest.
"""

"""`fleetgate doctor`: what is not well with a set-up, and what to type about it.

command      what is typed
setup        what is examined, and how to name it in a command
findings     what a look at one thing gives
checks       every check there is, and running them side by side
showing      as text for a terminal
documents    as data

Each other module is a group of checks: `server`, `definitions`, `admission`, `own_rights`,
`accounts`, `temporal_server`, `polling`, `leases`, `metrics`, `members`, `placements`, `runs`.
"""

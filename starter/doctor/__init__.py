"""`fleetgate doctor`: checks an installation and suggests fixes.

command      the command
setup        the installation that is checked, and commands for it
findings     the result of checking one thing
checks       all checks, and running them concurrently
showing      findings as text for a terminal, and as data

Each other module is a group of checks: `server`, `definitions`, `admission`, `rights`,
`temporal_server`, `polling`, `leases`, `metrics`, `members`, `placements`, `runs`.
"""

"""`fleetgate doctor`: checks an installation and suggests fixes.

command      the command
findings     the result of checking one thing, and the installation that is checked
checks       all checks, and running them concurrently
showing      findings as text for a terminal, and as data

Each other module is a group of checks: `server`, `installed`, `rights`, `temporal_server`,
`workers`, `leases`, `members`, `placements`, `runs`.
"""

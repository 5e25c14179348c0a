"""Pure decisions: data and `now` in, data out.

`runs/` decides about update runs, `placements/` about what a placement selects and where it goes,
`overrides/` about what differs from cluster to cluster, `members/` about applying it there; what
more than one of them needs stands here. Never awaits, never reads a clock, never imports `hub`.
"""

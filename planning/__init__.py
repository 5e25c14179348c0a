"""Pure decisions: data and `now` in, data out.

`runs/` is about update runs, `placements/` about what a placement selects and which clusters get
it, `overrides/` about differences between clusters, and `members/` about applying objects on a
member. What several of them need is at the top level. Nothing here awaits, reads a clock or
imports `hub`.
"""

"""How long tests wait: for what has to happen, and to see that nothing does."""

PROMISED = 3.0
"""Seconds within which a violation ends a run (decision 8), on a machine that keeps up."""
QUIET = 0.3
"""Seconds in which an engine that does what it should not would have done it."""
LOOKED_TWICE = 1.5
"""Seconds after which an engine that took a passing state for a violation has ended the run."""
BETWEEN_TWO_STEPS = 0.2
"""Seconds for which others may leave things half changed; less than until the second look."""

"""Members: in which order a Work is applied, whether it may be, and what came of it."""

"""`fleetgate run history`: sources (I/O), what they tell (pure), printing."""

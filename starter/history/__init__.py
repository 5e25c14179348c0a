"""`fleetgate run history`: reading the sources (I/O), interpreting them (pure), printing."""

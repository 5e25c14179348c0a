"""The commands `fleetgate run …`, one module each."""

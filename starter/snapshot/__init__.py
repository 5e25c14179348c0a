"""The commands `fleetgate snapshot …`, one module each."""

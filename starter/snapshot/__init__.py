"""The commands `fleetgate snapshot …`."""

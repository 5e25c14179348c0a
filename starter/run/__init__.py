"""The commands `fleetgate run …`, and what they share."""

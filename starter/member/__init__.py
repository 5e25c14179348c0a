"""The commands `fleetgate member …`, and what they share."""

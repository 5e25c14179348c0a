"""`fleetgate temporal`: commands for operators of the Temporal that fleetgate uses."""

"""`fleetgate rollback`: creates and starts a run of an older snapshot."""

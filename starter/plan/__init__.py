"""`fleetgate plan`: shows what a run would do without creating it."""

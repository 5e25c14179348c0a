"""`fleetgate approve`: approves one gate, or all open ones."""

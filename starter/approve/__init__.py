"""`fleetgate approve`: one gate, or all that are open."""

"""`fleetgate rollback`: a run of an older version, made and started in one go."""

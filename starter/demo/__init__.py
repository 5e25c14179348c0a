"""`fleetgate demo`: the tutorial of staged update runs, typed and checked on the local fleet."""

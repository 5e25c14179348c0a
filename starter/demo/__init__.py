"""`fleetgate demo`: the tutorial of staged update runs, told and checked on the local fleet."""

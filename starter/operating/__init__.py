"""`fleetgate temporal`: what those who run Temporal for fleetgate do now and then."""

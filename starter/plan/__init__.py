"""`fleetgate plan`: what a run would do, before there is one."""

"""What it takes to run fleetgate somewhere: the CRD files and the embedded local fleet.

Uses `hub` and `api` to talk to the clusters that it starts; must not import workflows, activities,
planning, placement, agent, bridge or the command line, and decides nothing about a rollout.
"""

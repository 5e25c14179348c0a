"""Everything needed to deploy fleetgate, including the CRD files and the embedded local fleet.

It uses `hub` and `api` to talk to the clusters that it starts, and takes no part in rollouts: it
must not import workflows, activities, planning, placement, agent, bridge or the command line.
"""

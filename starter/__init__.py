"""The command line `fleetgate`, also installed as `kubectl-fleetgate`.

Turns what people type into objects on the hub or messages to a workflow, and shows runs, gates
and snapshots as text and tables. It decides nothing about a rollout, and no other package imports
it.
"""

"""The command line `fleetgate`, also installed as `kubectl-fleetgate`.

Turns what people type into objects on the hub or messages to a workflow, and what is there
into words and tables. Decides nothing about a rollout; nothing imports it.
"""

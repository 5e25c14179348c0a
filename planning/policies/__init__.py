"""What rollout policies say about a run, and what follows from it."""

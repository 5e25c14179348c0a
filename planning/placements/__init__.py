"""Placements: selecting, snapshots, scheduling, bindings, Works and status."""

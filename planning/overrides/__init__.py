"""Overrides: which apply where, what they change, and their snapshots."""

"""Overrides: which apply to what, and what they change."""

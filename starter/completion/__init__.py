"""Completing what is typed: commands, options, and names that are on the hub."""

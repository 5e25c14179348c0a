"""Placements: what is selected, where it goes, what is handed out there, what is said of it."""

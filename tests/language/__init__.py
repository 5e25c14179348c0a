"""The check of the English in all text that people see."""

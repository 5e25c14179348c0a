"""The error that every failed deployment is."""


class DeployError(Exception):
    """Something could not be deployed; the text tells the user why and what to do."""

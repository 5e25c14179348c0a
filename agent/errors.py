"""Errors that an agent cannot recover from by itself.

    AgentError      an operator has to act; the text says how

All others are errors of `hub`: temporary ones are retried, refusals of single objects are
reported in the status of their Work.
"""


class AgentError(Exception):
    """A problem that an operator has to fix before the agent can work."""

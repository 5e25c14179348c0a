"""What an agent cannot mend by itself.

    AgentError      the operator has to do something; the text says what

All else is an error of `hub`: passing ones are retried, refusals of single objects are
reported in the status of their Work.
"""


class AgentError(Exception):
    """The agent cannot work until someone mends its surroundings."""

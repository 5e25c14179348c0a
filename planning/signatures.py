"""Who is written down for what was done, in texts that people read.

What an approval says ends with ` (by jane)`. On a hub with the policies of `deploy/rbac` the API
server sees to it that this is the user who wrote it.
"""

import re
from typing import Final

MAX_SAID: Final = 200
"""Characters of what a person wrote about themselves or their reasons; enough to tell."""
_SIGNED: Final = re.compile(r"(?P<said>.*) \(by (?P<who>.+)\)", re.DOTALL)
_UNKNOWN: Final = "an unknown user of Temporal"


def sign(text: str, who: str) -> str:
    """The text with the name at its end; as it is when nobody is known."""
    return f"{text} (by {who})" if who else text


def split(text: str) -> tuple[str, str]:
    """What a text says, and the name at its end; empty when it has none."""
    found = _SIGNED.fullmatch(text)
    return (found["said"], found["who"]) if found else (text, "")


def bounded(text: str) -> str:
    """A text that is not too long to be quoted, and still ends with the name."""
    said, who = split(text)
    return sign(said[:MAX_SAID], who[:MAX_SAID])


def of_temporal(says: str) -> str:
    """Who is recorded for a message that came through Temporal alone.

    The hub does not know Temporal's users, so that the name in the message is what somebody says;
    without brackets, that it cannot be taken for the name at a text's end.
    """
    said = says.replace("(", "[").replace(")", "]")[:MAX_SAID]
    return f"{_UNKNOWN}, who says: {said}" if said else _UNKNOWN


def clause(by: str, comment: str) -> str:
    """` by jane (error rate is up)`, to follow on what was done; empty when nothing is known."""
    who = f" by {by[:MAX_SAID]}" if by else ""
    return f"{who} ({comment[:MAX_SAID]})" if comment else who

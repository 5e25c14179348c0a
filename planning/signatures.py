"""Names of users in texts for people: who did what.

The message of an approval ends with ` (by jane)`. On a hub with the policies of `deploy/rbac`
the API server ensures that this is the user who wrote it.
"""

import re
from typing import Final

MAX_SAID: Final = 200
"""Characters kept of a user name or a comment that a person entered."""
_SIGNED: Final = re.compile(r"(?P<said>.*) \(by (?P<who>.+)\)", re.DOTALL)
_UNKNOWN: Final = "an unknown user of Temporal"


def sign(text: str, who: str) -> str:
    """Return the text with the name appended; unchanged if the name is empty."""
    return f"{text} (by {who})" if who else text


def split(text: str) -> tuple[str, str]:
    """Split a text into what it says and the name at its end, empty if there is none."""
    found = _SIGNED.fullmatch(text)
    return (found["said"], found["who"]) if found else (text, "")


def bounded(text: str) -> str:
    """Shorten a text so that it can be quoted; it keeps the name at its end."""
    said, who = split(text)
    return sign(said[:MAX_SAID], who[:MAX_SAID])


def of_temporal(says: str) -> str:
    """Return who is recorded for a message that came only through Temporal.

    The hub does not know Temporal's users, so the name in the message is only a claim. Its
    parentheses are replaced, so that it cannot pass for the name at the end of a text.
    """
    said = says.replace("(", "[").replace(")", "]")[:MAX_SAID]
    return f"{_UNKNOWN}, who says: {said}" if said else _UNKNOWN


def clause(by: str, comment: str) -> str:
    """Return ` by jane (error rate is up)` to append to what was done; empty if unknown."""
    who = f" by {by[:MAX_SAID]}" if by else ""
    return f"{who} ({comment[:MAX_SAID]})" if comment else who

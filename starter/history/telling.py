"""What texts on the hub say of a run's history: its events, and who gave an approval.

Pure: texts in, entries out.
"""

import re
from collections.abc import Mapping
from typing import Final

from api.reasons import ApprovalMessage
from planning import signatures
from planning.events import Event
from starter import words
from starter.history.entries import Entry, What

_WHAT: Final[Mapping[str, What]] = {
    "Initialized": What.PLANNED,
    "Adopted": What.ADOPTED,
    "Stopped": What.STOPPED,
    "Resumed": What.RESUMED,
    "StageStarted": What.STAGE_STARTED,
    "Stuck": What.STUCK,
    "Succeeded": What.SUCCEEDED,
    "Failed": What.FAILED,
}
"""By the reasons of `planning.runs.run_events`. Gates are told by what opens them instead."""
_STAGE_STARTED: Final = re.compile(r"Stage (?P<stage>\S+) started: (?P<rest>.*)", re.DOTALL)
_WITH: Final = re.compile(r"with (?P<tool>\S+): (?P<said>.*)", re.DOTALL)
_BY: Final = re.compile(r" by (?P<who>[^:]+)(: (?P<said>.*))?", re.DOTALL)
_UNCHANGED: Final = (ApprovalMessage.CLUSTER_APPROVED, ApprovalMessage.NAMESPACED_APPROVED)
"""What an approval says when the person did not."""


def of_event(event: Event) -> Entry | None:
    """The entry that a Kubernetes event on a run is worth; None if another tells the same."""
    what = _WHAT.get(event.reason)
    if what is None:
        return None
    stage = _STAGE_STARTED.fullmatch(event.message)
    if stage:
        return Entry(event.at, what, stage=stage["stage"], comment=stage["rest"])
    return Entry(event.at, what, comment=_comment(what, event.message))


def _comment(what: What, message: str) -> str:
    match what:
        case What.STOPPED | What.RESUMED | What.SUCCEEDED:
            return ""  # The message says the same in more words.
        case What.ADOPTED:
            return message.partition("; ")[2]  # Why is the same each time.
        case What.PLANNED:
            return message.partition(";")[0]  # What to type next is no history.
    return words.reason(message)


def approver(given: str) -> tuple[str, str]:
    """Who gave an approval and what they said, from `planning.runs.approval_events.given`.

    Where no name is written down, only the tool is known.
    """
    if match := _WITH.fullmatch(given):
        said, who = signatures.split(match["said"])
        return f"{who} with {match['tool']}".lstrip(), said
    said, who = signatures.split(given)
    if who:
        return who, "" if said in _UNCHANGED else said
    for text in _UNCHANGED:
        if given.startswith(text) and (match := _BY.fullmatch(given, len(text))):
            return match["who"], match["said"] or ""
    return "", "" if given in _UNCHANGED else given

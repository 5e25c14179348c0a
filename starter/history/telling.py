"""Reading texts on the hub: a run's events, and who gave an approval.

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
"""By the reasons of `planning.runs.run_events`. Gates are reported by what opens them instead."""
_STAGE_STARTED: Final = re.compile(r"Stage (?P<stage>\S+) started: (?P<rest>.*)", re.DOTALL)
_WITH: Final = re.compile(r"with (?P<tool>\S+): (?P<said>.*)", re.DOTALL)
_BY: Final = re.compile(r" by (?P<who>[^:]+)(: (?P<said>.*))?", re.DOTALL)
_UNCHANGED: Final = (ApprovalMessage.CLUSTER_APPROVED, ApprovalMessage.NAMESPACED_APPROVED)
"""The message of an approval without a comment."""


def of_event(event: Event) -> Entry | None:
    """Return the entry for a Kubernetes event on a run; None if another source reports the same."""
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
            return ""  # the message only repeats what happened
        case What.ADOPTED:
            return message.partition("; ")[2]  # the reason before it is always the same
        case What.PLANNED:
            return message.partition(";")[0]  # the rest is what to type next, not history
    return words.reason(message)


def approver(given: str) -> tuple[str, str]:
    """Return who gave an approval and the comment, from `planning.runs.approval_events.given`.

    If no name was recorded, only the tool is known.
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

"""What texts on the hub say of a run's history: its events, and who gave an approval.

Pure: texts in, entries out.
"""

import re
from collections.abc import Mapping
from typing import Final

from api.reasons import ApprovalMessage
from planning.events import Event
from starter import words
from starter.history.entries import Entry, What

_WHAT: Final[Mapping[str, What]] = {
    "Initialized": What.PLANNED,
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
_BY_AT_THE_END: Final = re.compile(r"(?P<said>.*) \(by (?P<who>.+)\)", re.DOTALL)
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
        case What.PLANNED:
            return message.partition(";")[0]  # What to type next is no history.
    return words.reason(message)


def approver(given: str) -> tuple[str, str]:
    """Who gave an approval and what they said, from `planning.runs.approval_events.given`.

    With kubectl anything may be written; then only the tool is known.
    """
    if match := _WITH.fullmatch(given):
        return f"with {match['tool']}", match["said"]
    if match := _BY_AT_THE_END.fullmatch(given):
        said = match["said"]
        return match["who"], "" if said in _UNCHANGED else said
    for text in _UNCHANGED:
        if given.startswith(text) and (match := _BY.fullmatch(given, len(text))):
            return match["who"], match["said"] or ""
    return "", "" if given in _UNCHANGED else given

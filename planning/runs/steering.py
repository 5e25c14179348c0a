"""Annotations of a run that say who set its spec.state, and why.

Only the state of a run's spec can change, so its generation counts exactly these changes. The
annotations name the generation they belong to, so that they do not pass for those of a later change
that was made without any.
"""

from dataclasses import dataclass

from api.base import ObjectMeta
from api.names import STATE_BY, STATE_COMMENT, STATE_GENERATION
from api.runs import RunState


@dataclass(frozen=True, slots=True)
class Steered:
    """Author and comment of the last change of a run's state."""

    by: str = ""
    """The user; empty if unknown."""
    comment: str = ""


def last(metadata: ObjectMeta) -> Steered:
    """Return what is recorded about the last change; empty if nothing is."""
    found = metadata.annotations
    if found.get(STATE_GENERATION) != str(metadata.generation):
        return Steered()
    return Steered(by=found.get(STATE_BY, ""), comment=found.get(STATE_COMMENT, ""))


def at_creation(*, by: str, comment: str) -> dict[str, str]:
    """Return the annotations of a new run that say who created it in its state and why."""
    said = {STATE_BY: by, STATE_COMMENT: comment, STATE_GENERATION: "1"}
    return {name: text for name, text in said.items() if text}


def change(
    metadata: ObjectMeta, state: RunState, *, by: str, comment: str
) -> dict[str, dict[str, object]]:
    """Return the merge patch that sets a run's state and records who did it and why."""
    said = {
        STATE_BY: by or None,
        STATE_COMMENT: comment or None,
        STATE_GENERATION: str(metadata.generation + 1),
    }
    return {"metadata": {"annotations": said}, "spec": {"state": state.value}}

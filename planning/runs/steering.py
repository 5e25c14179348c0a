"""Who set a run's spec.state, and why: annotations of the run.

Of a run's spec nothing but the state can be changed, so that its generation counts just these
changes. The annotations name the generation that they are about: when somebody changes the state
and says nothing, what was said of an earlier change does not stand for theirs.
"""

from dataclasses import dataclass

from api.base import ObjectMeta
from api.names import STATE_BY, STATE_COMMENT, STATE_GENERATION
from api.runs import RunState


@dataclass(frozen=True, slots=True)
class Steered:
    """The last change of a run's state."""

    by: str = ""
    """The user, as far as is known."""
    comment: str = ""


def last(metadata: ObjectMeta) -> Steered:
    """What is known of the last change; nothing when nobody has written it down."""
    found = metadata.annotations
    if found.get(STATE_GENERATION) != str(metadata.generation):
        return Steered()
    return Steered(by=found.get(STATE_BY, ""), comment=found.get(STATE_COMMENT, ""))


def change(
    metadata: ObjectMeta, state: RunState, *, by: str, comment: str
) -> dict[str, dict[str, object]]:
    """The merge patch that sets the state of a run as it is, and says who did and why."""
    said = {
        STATE_BY: by or None,
        STATE_COMMENT: comment or None,
        STATE_GENERATION: str(metadata.generation + 1),
    }
    return {"metadata": {"annotations": said}, "spec": {"state": state.value}}

"""The content that a word names: a stored version, the latest of them, or the hub's as it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from hub import Hub, Json
from placement.snapshots import would_take
from planning.placements.selecting import SelectionError, SelectionRules
from starter.failures import Failure
from starter.records import Record
from starter.targets import Target
from starter.versions import Version

NOW = "now"


@dataclass(frozen=True, slots=True)
class Content:
    """What one side of a comparison holds."""

    title: str
    resources: Sequence[Json]
    version: Version | None = None
    """None for what is not stored."""


async def content(
    hub: Hub, target: Target, known: Record, word: str, *, rules: SelectionRules
) -> Content:
    """The content that a word names. Raises Failure when there is none."""
    if word != NOW:
        version = known.version(word)
        return Content(f"snapshot {version.index}", version.resources, version)
    try:
        _, resources = await would_take(
            hub,
            scope=target.scope,
            namespace=target.namespace,
            placement=known.placement,
            rules=rules,
        )
    except SelectionError as error:
        raise Failure(str(error), advice="mend the placement's resourceSelectors") from error
    return Content("hub now", resources)

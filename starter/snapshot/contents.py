"""Content by name: a snapshot's index, `latest`, or `now` for the hub's content as it is."""

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
    """The content on one side of a comparison."""

    title: str
    resources: Sequence[Json]
    version: Version | None = None
    """None for the hub's content, which is not stored as a snapshot."""


async def content(
    hub: Hub, target: Target, known: Record, word: str, *, rules: SelectionRules
) -> Content:
    """Read the content that a word names. Raises Failure if it does not exist."""
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
        raise Failure(str(error), advice="fix the placement's resourceSelectors") from error
    return Content("hub now", resources)

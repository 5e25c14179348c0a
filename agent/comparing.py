"""Finding out how an object on the member differs from its manifest, without changing it.

contract: placement 8 (PartialComparison, FullComparison, degraded mode)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.settings import OBJECT_MANAGER
from api.applying import ComparisonOption
from api.kinds import Kind
from api.outcomes import PatchDetail
from hub import Hub, Invalid, Json
from planning.members.comparisons import differences


@dataclass(frozen=True, slots=True)
class Comparison:
    """How an object differs."""

    details: Sequence[PatchDetail]
    degraded: bool = False
    """The member does not accept the manifest, so that whole objects had to be compared."""


async def compare(
    body: Json, live: Json, *, kind: Kind, option: ComparisonOption, cluster: Hub
) -> Comparison:
    """Compare an object with its manifest.

    Partly, an object is compared with what applying the manifest would make of it: fields that
    the manifest does not speak of are the same then.

    Raises:
        HubError: the member does not tell what applying would do, for another reason than that
            the manifest is wrong.
    """
    if option is ComparisonOption.FULL:
        return Comparison(differences(body, live))
    try:
        preview = await cluster.apply(kind, body, manager=OBJECT_MANAGER, dry_run=True)
    except Invalid:
        return Comparison(differences(body, live), degraded=True)
    return Comparison(differences(preview, live))

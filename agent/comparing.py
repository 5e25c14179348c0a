"""Comparing an object on the member with its manifest, without changing it.

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
    """The differences between an object and its manifest."""

    details: Sequence[PatchDetail]
    degraded: bool = False
    """The member does not accept the manifest, so whole objects had to be compared."""


async def compare(
    body: Json, live: Json, *, kind: Kind, option: ComparisonOption, cluster: Hub
) -> Comparison:
    """Compare an object with its manifest.

    A partial comparison is with the result of a dry-run apply, in which the fields that the
    manifest does not set are the same.

    Raises:
        HubError: the dry run failed, other than because the manifest is invalid.
    """
    if option is ComparisonOption.FULL:
        return Comparison(differences(body, live))
    try:
        preview = await cluster.apply(kind, body, manager=OBJECT_MANAGER, dry_run=True)
    except Invalid:
        return Comparison(differences(body, live), degraded=True)
    return Comparison(differences(preview, live))

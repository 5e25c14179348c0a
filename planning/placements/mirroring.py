"""Mirroring the status of placed objects to the originals on the hub.

contract: placement 2.3 (reportBackStrategy), 8 (backReportedStatus)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api import names
from api.applying import ReportBackDestination, ReportBackType
from api.placements import PlacementSpec
from api.scheduling import PlacementPolicy, PlacementType
from planning.resource_order import Identity

Json = Mapping[str, Any]

NOT_MIRRORED: Final = "StatusNotMirrored"
"""Reason of the event that says why a status on a member is not reported back to the hub."""

SEVERAL_CLUSTERS: Final = (
    "the status of placed objects is not written to the original resources: their placement can"
    " pick several clusters. Make it pick one (PickFixed with one name, or PickN with"
    " numberOfClusters 1), or set strategy.reportBackStrategy.destination to WorkAPI"
)


@dataclass(frozen=True, slots=True)
class Mirrored:
    """An object of the hub, and its status on the member."""

    api_version: str
    kind: str
    namespace: str
    name: str
    status: Json

    @property
    def identity(self) -> Identity:
        """Identity of the object, as the agent reports it."""
        group, _, version = self.api_version.rpartition("/")
        return Identity(group, version, self.kind, self.namespace, self.name)


def is_wanted(spec: PlacementSpec) -> bool:
    """Return whether the originals on the hub should show the status of the placed objects."""
    strategy = spec.strategy.report_back_strategy
    return (
        strategy is not None
        and strategy.type is ReportBackType.MIRROR
        and strategy.destination is ReportBackDestination.ORIGINAL_RESOURCE
    )


def picks_one(policy: PlacementPolicy | None) -> bool:
    """Return whether the policy can only pick one cluster: an original can show only one status."""
    if policy is None:
        return False
    if policy.placement_type is PlacementType.PICK_FIXED:
        return len(policy.cluster_names) == 1
    return policy.placement_type is PlacementType.PICK_N and policy.number_of_clusters == 1


def reported(work: Json) -> list[Mirrored]:
    """Return the statuses in a Work; objects of an envelope have no original on the hub."""
    if names.ENVELOPE_WORK in work["metadata"].get("labels", {}):
        return []
    entries = work.get("status", {}).get("manifestConditions", [])
    return [_mirrored(each) for each in entries if _observed(each)]


def _observed(entry: Json) -> Json:
    observed: Json = entry.get("backReportedStatus", {}).get("observedStatus", {})
    return observed


def _mirrored(entry: Json) -> Mirrored:
    observed, identifier = _observed(entry), entry["identifier"]
    return Mirrored(
        api_version=observed["apiVersion"],
        kind=observed["kind"],
        namespace=identifier.get("namespace", ""),
        name=identifier["name"],
        status=observed.get("status", {}),
    )

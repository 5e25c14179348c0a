"""The objects of a binding that failed, drifted or differ, collected from its Works.

contract: placement 6 (lists), 7 (entries)
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from api.base import Condition
from api.outcomes import (
    DiffedResourcePlacement,
    DriftedResourcePlacement,
    FailedResourcePlacement,
    ResourceIdentifier,
)
from api.reasons import ConditionType
from api.works import ManifestCondition
from planning.conditions import find
from planning.placements.binding_steps import WorkReport

MAX_LISTED: Final = 100
"""Entries that a binding can hold in each list."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Three lists of a binding's status."""

    failed: tuple[FailedResourcePlacement, ...] = ()
    drifted: tuple[DriftedResourcePlacement, ...] = ()
    diffed: tuple[DiffedResourcePlacement, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """Return the fields of the status, including empty ones."""
        return {
            "failedPlacements": [each.to_wire() for each in self.failed],
            "driftedPlacements": [each.to_wire() for each in self.drifted],
            "diffedPlacements": [each.to_wire() for each in self.diffed],
        }


def failed(works: Iterable[WorkReport]) -> tuple[FailedResourcePlacement, ...]:
    """Return objects that could not be applied or are not available, in the order of the Works."""
    entries = (
        FailedResourcePlacement(**_identifier(work, manifest), condition=condition)
        for work, manifest in _manifests(works)
        for condition in _failure(manifest)
    )
    return tuple(islice(entries, MAX_LISTED))


def drifted(works: Iterable[WorkReport]) -> tuple[DriftedResourcePlacement, ...]:
    """Return objects that were changed on the member, in KubeFleet's order."""
    entries = (
        DriftedResourcePlacement(
            **_identifier(work, manifest),
            observation_time=details.observation_time,
            target_cluster_observed_generation=details.observed_in_member_cluster_generation,
            first_drifted_observed_time=details.first_drifted_observed_time,
            observed_drifts=details.observed_drifts,
        )
        for work, manifest in _manifests(works)
        if (details := manifest.drift_details)
    )
    return tuple(sorted(entries, key=_position)[:MAX_LISTED])


def diffed(works: Iterable[WorkReport]) -> tuple[DiffedResourcePlacement, ...]:
    """Return objects that differ between hub and member, in KubeFleet's order."""
    entries = (
        DiffedResourcePlacement(
            **_identifier(work, manifest),
            observation_time=details.observation_time,
            target_cluster_observed_generation=details.observed_in_member_cluster_generation,
            first_diffed_observed_time=details.first_diffed_observed_time,
            observed_diffs=details.observed_diffs,
        )
        for work, manifest in _manifests(works)
        if (details := manifest.diff_details)
    )
    return tuple(sorted(entries, key=_position)[:MAX_LISTED])


def _manifests(works: Iterable[WorkReport]) -> Iterator[tuple[WorkReport, ManifestCondition]]:
    for work in works:
        for manifest in work.status.manifest_conditions:
            yield work, manifest


def _failure(manifest: ManifestCondition) -> list[Condition]:
    """Return the first condition that says what is wrong; at most one."""
    found = (
        find(manifest.conditions, kind) for kind in (ConditionType.APPLIED, ConditionType.AVAILABLE)
    )
    return [each for each in found if each and each.status == "False"][:1]


def _identifier(work: WorkReport, manifest: ManifestCondition) -> dict[str, Any]:
    """Return the fields that identify the object, without empty ones."""
    identifier = manifest.identifier
    fields = ("group", "version", "kind", "name", "namespace")
    values: dict[str, Any] = {field: getattr(identifier, field) for field in fields}
    values["envelope"] = work.envelope
    return {field: value for field, value in values.items() if value}


def _position(entry: ResourceIdentifier) -> str:
    place = f"{entry.group}/{entry.version}/{entry.kind}/{entry.namespace}/{entry.name}"
    box = entry.envelope
    return f"{place}/{box.type}/{box.namespace}/{box.name}" if box else place

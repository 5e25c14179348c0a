"""What an agent remembers of a Work between two reconciles, to avoid unnecessary requests."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from agent.applied import Applied
from agent.manifests import Manifest
from agent.object_watches import ObjectWatches, ObservedChange, Seen, Spot
from api import names
from api.works import AppliedResource
from hub import Json
from planning.members.outcomes import ManifestOutcome, is_settled, recheck_pause, repair_pause


@dataclass(slots=True)
class WorkProgress:
    """The progress of a Work on the member. A restarted agent loses it and determines it again."""

    uid: str
    generation: int
    applied: list[Applied]
    processed_at: float
    """When the Work was last applied, on the monotonic clock."""
    diff_only: bool = False
    """True if the Work's strategy is ReportDiff."""
    mirrors: bool = False
    """True if the status of the objects is reported back."""
    remaining: list[AppliedResource] = field(default_factory=list)
    """Objects that are still being removed."""
    attempts: int = 1
    """How many times in a row the Work was applied with the same result, settled or unsettled."""
    repairs: int = 0
    """How many times in a row the Work was applied because of drift."""
    drifted: bool = False
    """True if someone else deleted or changed an object since the Work was applied."""
    again: str = ""
    """When a run last had the Work applied once more; empty if none did."""
    status: bytes = b""
    """The last status that was written, packed."""

    def is_about(self, work: Json) -> bool:
        """Return whether this progress belongs to the Work's current content and requests."""
        metadata = work["metadata"]
        now = (metadata["uid"], metadata["generation"], asked_again(metadata))
        return (self.uid, self.generation, self.again) == now

    @property
    def outcomes(self) -> list[ManifestOutcome]:
        """The result for each manifest."""
        return [each.outcome for each in self.applied]

    @property
    def mirrored(self) -> list[Json]:
        """The types of the objects whose status is reported back."""
        return [each.manifest.body for each in self.applied] if self.mirrors else []

    @property
    def is_settled(self) -> bool:
        """True when nothing is missing on the member and nothing is left to remove."""
        return is_settled(self.outcomes) and not self.remaining

    def follow(self, before: "WorkProgress | None") -> None:
        """Continue the counts of an earlier attempt at the same content."""
        if before is None or (before.uid, before.generation) != (self.uid, self.generation):
            return
        self.status = before.status
        self.repairs = before.repairs + 1 if before.drifted else 0
        if before.again != self.again:
            return  # the next attempts follow quickly again
        if before.is_settled == self.is_settled:
            self.attempts = before.attempts + 1

    def due(self) -> float:
        """Return when to apply the Work again, on the monotonic clock."""
        pause = recheck_pause(self.attempts, settled=self.is_settled)
        if self.drifted:
            pause = min(pause, repair_pause(self.repairs))
        return self.processed_at + pause / timedelta(seconds=1)

    def take_in(self, sighting: ObservedChange) -> None:
        """Record that an object is gone; `look` reads changes of its state."""
        if sighting.gone and sighting.spot in {spot_of(each.manifest) for each in self.applied}:
            self.drifted = True

    def look(self, watches: ObjectWatches) -> None:
        """Take over what the watches show where it is newer."""
        self.applied = [self._look_at(each, watches) for each in self.applied]

    def _look_at(self, applied: Applied, watches: ObjectWatches) -> Applied:
        spot = spot_of(applied.manifest)
        found = watches.get(spot) if spot else None
        if found is None or not _is_newer(found.version, applied.version):
            return applied
        if (found.uid, found.content) != (applied.uid, applied.content):
            # Applying an object that is already as wanted changes nothing, so this cannot loop.
            self.drifted = True
        if self.drifted or not applied.outcome.is_applied:
            return applied
        return _renewed(applied, found)


def _renewed(applied: Applied, found: Seen) -> Applied:
    """Return the result with the object's current state; findings about drift stay."""
    outcome = replace(
        applied.outcome,
        generation=found.generation,
        availability=found.availability,
        status=found.status,
    )
    return replace(applied, version=found.version, outcome=outcome)


def asked_again(metadata: Json) -> str:
    """Return when a run last had a Work applied once more, by its metadata; empty if none did."""
    found: str = metadata.get("annotations", {}).get(names.APPLY_AGAIN, "")
    return found


def spot_of(manifest: Manifest) -> Spot | None:
    """Return the address of a manifest's object; None if the member does not serve its kind."""
    kind, identifier = manifest.kind, manifest.identifier
    if kind is None or not identifier.name:
        return None
    return Spot(kind, identifier.namespace if kind.namespaced else "", identifier.name)


def _is_newer(version: str, than: str) -> bool:
    # Numbers if the API server uses etcd; otherwise any difference has to count as newer.
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return version != than

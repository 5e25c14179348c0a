"""What an agent remembers of a Work between two looks, to do no more than is needed."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from agent.applied import Applied
from agent.manifests import Manifest
from agent.sightings import Seen, Sighting, Sightings, Spot
from api.works import AppliedResource
from hub import Json
from planning.members import work_rechecks
from planning.members.outcomes import Outcome, is_settled


@dataclass(slots=True)
class Progress:
    """How far a Work is on the member. Lost with the agent, and then found out again."""

    uid: str
    generation: int
    applied: list[Applied]
    processed_at: float
    """When the Work was last applied, on the monotonic clock."""
    diff_only: bool = False
    """The Work's strategy is ReportDiff."""
    mirrors: bool = False
    """The status of the objects is reported back."""
    remaining: list[AppliedResource] = field(default_factory=list)
    """Objects that are still being removed."""
    attempts: int = 1
    """Times in a row that the Work was applied and was as settled, or unsettled, as before."""
    repairs: int = 0
    """Times in a row that drift was the cause to apply."""
    drifted: bool = False
    """An object was deleted or changed by someone else since the Work was applied."""
    status: bytes = b""
    """The status that was last written, packed."""

    def is_about(self, work: Json) -> bool:
        """Whether what is remembered is about this very content."""
        metadata = work["metadata"]
        return (self.uid, self.generation) == (metadata["uid"], metadata["generation"])

    @property
    def outcomes(self) -> list[Outcome]:
        """What became of each manifest."""
        return [each.outcome for each in self.applied]

    @property
    def mirrored(self) -> list[Json]:
        """The types of the objects whose status is reported back."""
        return [each.manifest.body for each in self.applied] if self.mirrors else []

    @property
    def is_settled(self) -> bool:
        """Whether nothing is missing on the member and nothing is to be removed."""
        return is_settled(self.outcomes) and not self.remaining

    def follow(self, before: "Progress | None") -> None:
        """Go on counting where an earlier attempt at the same content left off."""
        if before is None or (before.uid, before.generation) != (self.uid, self.generation):
            return
        self.status = before.status
        self.repairs = before.repairs + 1 if before.drifted else 0
        if before.is_settled == self.is_settled:
            self.attempts = before.attempts + 1

    def due(self) -> float:
        """When the Work is to be applied again, on the monotonic clock."""
        pause = work_rechecks.pause(self.attempts, settled=self.is_settled)
        if self.drifted:
            pause = min(pause, work_rechecks.repair_pause(self.repairs))
        return self.processed_at + pause / timedelta(seconds=1)

    def take_in(self, sighting: Sighting) -> None:
        """Note that an object is gone; what it says of itself is read by `look`."""
        if sighting.gone and sighting.spot in {spot_of(each.manifest) for each in self.applied}:
            self.drifted = True

    def look(self, sightings: Sightings) -> None:
        """Take in what the watches show, where it is newer than what is known."""
        self.applied = [self._look_at(each, sightings) for each in self.applied]

    def _look_at(self, applied: Applied, sightings: Sightings) -> Applied:
        spot = spot_of(applied.manifest)
        found = sightings.get(spot) if spot else None
        if found is None or not _is_newer(found.version, applied.version):
            return applied
        if (found.uid, found.content) != (applied.uid, applied.content):
            # To apply what is there already changes nothing, so that this ends by itself.
            self.drifted = True
        if self.drifted or not applied.outcome.is_applied:
            return applied
        return _renewed(applied, found)


def _renewed(applied: Applied, found: Seen) -> Applied:
    """What the object says of itself now; what was found out about drift stays."""
    outcome = replace(
        applied.outcome,
        generation=found.generation,
        availability=found.availability,
        status=found.status,
    )
    return replace(applied, version=found.version, outcome=outcome)


def spot_of(manifest: Manifest) -> Spot | None:
    """Where the object of a manifest is to be seen; None when the member does not serve it."""
    kind, identifier = manifest.kind, manifest.identifier
    if kind is None or not identifier.name:
        return None
    return Spot(kind, identifier.namespace if kind.namespaced else "", identifier.name)


def _is_newer(version: str, than: str) -> bool:
    # Numbers wherever etcd is behind the API server; else being different must do.
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return version != than

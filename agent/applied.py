"""What became of single manifests, with what it takes to see whether that still holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from agent.manifests import Manifest
from agent.sightings import seen
from api.kinds import Kind
from api.outcomes import PatchDetail
from api.reasons import ManifestReason
from hub import BadConfiguration, HubError, Json, TooManyRequests, Unauthorized, Unavailable
from planning.members.comparisons import content_hash
from planning.members.outcomes import Outcome, Refusal


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one manifest, and which version of the object the member had then."""

    manifest: Manifest
    outcome: Outcome
    version: str = ""
    """Resource version of the object; empty when there was none."""
    content: str = ""
    """Fingerprint of the object's content."""
    uid: str = ""


class Refused(Exception):  # noqa: N818 - it is not an error of the agent
    """A manifest cannot or must not be applied or compared; the others go on."""

    def __init__(
        self,
        reason: ManifestReason,
        error: str,
        *,
        drifts: Sequence[PatchDetail] = (),
        diffs: Sequence[PatchDetail] = (),
    ) -> None:
        super().__init__(error)
        self.refusal = Refusal(reason, error)
        self.drifts = drifts
        self.diffs = diffs


def judged(
    manifest: Manifest,
    kind: Kind,
    live: Json,
    *,
    finding: ManifestReason = ManifestReason.APPLIED,
    drifts: Sequence[PatchDetail] = (),
) -> Applied:
    """An applied manifest, with what its object says of itself."""
    found = seen(kind, live)
    outcome = Outcome(
        identifier=manifest.identifier,
        finding=finding,
        generation=found.generation,
        availability=found.availability,
        drifts=drifts,
        status=found.status,
        compared_at=datetime.now(UTC),
    )
    return Applied(manifest, outcome, found.version, found.content, found.uid)


def compared(
    manifest: Manifest, live: Json | None, *, finding: ManifestReason, diffs: Sequence[PatchDetail]
) -> Applied:
    """A manifest that was only compared with what the member has."""
    outcome = Outcome(
        identifier=manifest.identifier,
        finding=finding,
        is_there=live is not None,
        generation=_generation(live),
        diffs=diffs,
        compared_at=datetime.now(UTC),
    )
    return _noted(manifest, outcome, live)


def refused(
    manifest: Manifest,
    refusal: Refusal | None,
    live: Json | None = None,
    *,
    drifts: Sequence[PatchDetail] = (),
    diffs: Sequence[PatchDetail] = (),
) -> Applied:
    """A manifest that was not applied, and why; `live` is the object that is there instead."""
    outcome = Outcome(
        identifier=manifest.identifier,
        refusal=refusal,
        is_there=live is not None,
        generation=_generation(live),
        drifts=drifts,
        diffs=diffs,
        compared_at=datetime.now(UTC),
    )
    return _noted(manifest, outcome, live)


def passes(error: HubError) -> bool:
    """Whether an error is about the member's API server as a whole, not about one object.

    An internal error (500) is mostly an admission webhook that cannot be reached; it may last,
    so people must see it in the Work.
    """
    if isinstance(error, TooManyRequests | Unauthorized | BadConfiguration):
        return True
    return isinstance(error, Unavailable) and error.code != HTTPStatus.INTERNAL_SERVER_ERROR


def _noted(manifest: Manifest, outcome: Outcome, live: Json | None) -> Applied:
    if live is None:
        return Applied(manifest=manifest, outcome=outcome)
    metadata = live["metadata"]
    return Applied(
        manifest=manifest,
        outcome=outcome,
        version=metadata["resourceVersion"],
        content=content_hash(live),
        uid=metadata["uid"],
    )


def _generation(live: Json | None) -> int:
    generation: int = live["metadata"].get("generation", 0) if live else 0
    return generation

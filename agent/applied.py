"""Results for single manifests, with what is needed to tell whether they still hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from agent.manifests import Manifest
from agent.object_watches import seen
from api.kinds import Kind
from api.outcomes import PatchDetail
from api.reasons import ManifestReason
from hub import BadConfiguration, HubError, Json, TooManyRequests, Unauthorized, Unavailable
from planning.members.comparisons import content_hash
from planning.members.outcomes import ManifestOutcome, Refusal


@dataclass(frozen=True, slots=True)
class Applied:
    """The result for one manifest, and the version that the object had on the member then."""

    manifest: Manifest
    outcome: ManifestOutcome
    version: str = ""
    """Resource version of the object; empty if it did not exist."""
    content: str = ""
    """Fingerprint of the object's content."""
    uid: str = ""


class Refused(Exception):  # noqa: N818 - it is not an error of the agent
    """A manifest that cannot or must not be applied or compared; the others continue."""

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
    """Return the result for an applied manifest, with the state of its object."""
    found = seen(kind, live)
    outcome = ManifestOutcome(
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
    """Return the result for a manifest that was only compared with the object on the member."""
    outcome = ManifestOutcome(
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
    """Return the result for a manifest that was refused; `live` is the object that exists."""
    outcome = ManifestOutcome(
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
    """Return whether an error concerns the member's API server as a whole, not just one object.

    An internal error (500) usually means that an admission webhook is unreachable. That may last,
    so it must be visible in the Work.
    """
    if isinstance(error, TooManyRequests | Unauthorized | BadConfiguration):
        return True
    return isinstance(error, Unavailable) and error.code != HTTPStatus.INTERNAL_SERVER_ERROR


def _noted(manifest: Manifest, outcome: ManifestOutcome, live: Json | None) -> Applied:
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

"""One attempt to apply a manifest to the member, or to compare it with what is there.

contract: placement 8 (takeover, drift, ReportDiff, comparisons, degraded mode) and 12
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from agent.applied import Applied, Refused, compared, judged, passes, refused
from agent.manifests import Manifest
from agent.settings import OBJECT_MANAGER
from agent.writing import ObjectWriter
from api.applying import ApplyStrategy, ApplyType, ComparisonOption, WhenToApply, WhenToTakeOver
from api.base import OwnerReference
from api.kinds import Kind
from api.outcomes import PatchDetail
from api.reasons import ApplyError, ManifestReason
from hub import AlreadyExists, Conflict, Hub, HubError, Invalid, Json
from planning.members import applied_bodies, takeovers
from planning.members.comparisons import ABSENT, differences
from planning.members.outcomes import Refusal

# -- comparing -----------------------------------------------------------------------------


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


# -- attempts ------------------------------------------------------------------------------


_TRIES: Final = 3
"""How often to try an object that changes between reading and writing it."""

_FOUND: Final = "error returned by the API server: "
_COMPARED: Final = (
    "failed to apply the manifest in dry-run mode: failed to apply the manifest object: an error"
    " is returned by the API server: "
)
_NOT_FOUND: Final = (
    "failed to find the corresponding object for the manifest object in the member cluster: "
)
_NOT_COMPARED: Final = (
    "failed to calculate configuration diffs between the manifest object and the object from the"
    " member cluster: "
)
_NOT_TAKEN: Final = f"failed to take over a pre-existing object: {_NOT_COMPARED}"
_DRIFT_UNKNOWN: Final = (
    "failed to calculate pre-apply drifts between the manifest and the object from the member"
    " cluster: "
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to apply or compare a manifest."""

    cluster: Hub
    manifest: Manifest
    kind: Kind
    strategy: ApplyStrategy

    async def compare(self) -> Applied:
        """Return how the object differs, no matter who owns it; change nothing."""
        live: Json | None = None
        try:
            live = await self._find()
            if live is None:
                return compared(self.manifest, None, finding=ManifestReason.DIFF, diffs=[ABSENT])
            found = await self._comparison(live, ManifestReason.DIFF_FAILED, _NOT_COMPARED)
        except Refused as why:
            return refused(self.manifest, why.refusal, live)
        return compared(self.manifest, live, finding=_finding(found), diffs=found.details)

    async def apply(
        self, *, owner: OwnerReference, is_orphan: Callable[[str], bool] = lambda _: False
    ) -> Applied:
        """Find the object, check whether it may be written, and write it.

        Args:
            owner: the AppliedWork for which it is written.
            is_orphan: returns, for the name of an AppliedWork, whether its Work is gone for good.

        Raises:
            HubError: the member cannot be reached.
        """
        for attempt in count(1):
            live: Json | None = None
            try:
                live = await self._find()
                return await self._apply(live, owner, is_orphan)
            except Refused as why:
                return refused(self.manifest, why.refusal, live, drifts=why.drifts, diffs=why.diffs)
            except HubError as error:
                if passes(error):
                    raise
                if not _is_race(error) or attempt == _TRIES:
                    return refused(self.manifest, self._failure(error, live), live)
        raise AssertionError("counting never ends")

    async def _find(self) -> Json | None:
        identifier = self.manifest.identifier
        try:
            return await self.cluster.find(
                self.kind, identifier.name, namespace=identifier.namespace
            )
        except HubError as error:
            if passes(error):
                raise
            reason = ManifestReason.NOT_FOUND_ON_MEMBER
            raise Refused(reason, f"{_NOT_FOUND}{_FOUND}{error}") from error

    async def _apply(
        self, live: Json | None, owner: OwnerReference, is_orphan: Callable[[str], bool]
    ) -> Applied:
        orphans: set[str] = set()
        if live is not None:
            orphans = takeovers.orphans(live, is_orphan=is_orphan)
            await self._permit(takeovers.without(live, orphans), owner)
        body = applied_bodies.owned(self.manifest.body, owner)
        writer = ObjectWriter(self.cluster, self.kind, self.strategy)
        return await self._judged(await writer.write(body, live=live, orphans=orphans))

    async def _permit(self, live: Json, owner: OwnerReference) -> None:
        """Raise Refused if the strategy forbids writing the object that is there."""
        refusal = takeovers.refusal(live, uid=owner.uid, strategy=self.strategy)
        if refusal is not None:
            raise Refused(refusal.reason, refusal.error)
        if not takeovers.is_owned(live, uid=owner.uid):
            await self._permit_take_over(live)
        elif self.strategy.when_to_apply is WhenToApply.IF_NOT_DRIFTED:
            await self._permit_overwriting(live)

    async def _permit_take_over(self, live: Json) -> None:
        if self.strategy.when_to_take_over is not WhenToTakeOver.IF_NO_DIFF:
            return
        reason = ManifestReason.TAKE_OVER_FAILED
        found = await self._comparison(live, reason, _NOT_TAKEN)
        if found.details:
            error = ApplyError.DIFFERENT_DEGRADED if found.degraded else ApplyError.DIFFERENT
            raise Refused(reason, error, diffs=found.details)

    async def _permit_overwriting(self, live: Json) -> None:
        # A changed manifest differs from the object too, but that is not drift.
        if applied_bodies.noted_hash(live) != applied_bodies.spec_hash(self.manifest.body):
            return
        found = await self._comparison(live, ManifestReason.DRIFT_DETECTION_FAILED, _DRIFT_UNKNOWN)
        if found.details and found.degraded:
            reason, error = ManifestReason.DRIFTED_DEGRADED, ApplyError.DRIFTED_DEGRADED
            raise Refused(reason, error, drifts=found.details)
        if found.details:
            raise Refused(ManifestReason.DRIFTED, ApplyError.DRIFTED, drifts=found.details)

    async def _judged(self, live: Json) -> Applied:
        """Return the result of applying; with full comparison, extra fields may still differ."""
        if self.strategy.comparison_option is ComparisonOption.PARTIAL:
            return judged(self.manifest, self.kind, live)
        found = await self._compare(live)
        return judged(self.manifest, self.kind, live, drifts=found.details)

    async def _comparison(self, live: Json, reason: ManifestReason, doing: str) -> Comparison:
        try:
            return await self._compare(live)
        except HubError as error:
            if passes(error):
                raise
            raise Refused(reason, f"{doing}{_COMPARED}{error}") from error

    async def _compare(self, live: Json) -> Comparison:
        option = self.strategy.comparison_option
        return await compare(
            self.manifest.body, live, kind=self.kind, option=option, cluster=self.cluster
        )

    def _failure(self, error: HubError, live: Json | None) -> Refusal:
        if self.strategy.type is ApplyType.SERVER_SIDE_APPLY:
            doing = "failed to apply the manifest object: an error is"
        elif live is not None:
            doing = "failed to patch the manifest object: error"
        else:
            doing = "failed to create manifest object: error"
        text = f"failed to apply the manifest: {doing} returned by the API server: {error}"
        return Refusal(ManifestReason.APPLY_FAILED, text)


def _is_race(error: HubError) -> bool:
    """Return whether the object changed meanwhile; a conflict over fields has causes."""
    return isinstance(error, AlreadyExists | Conflict) and not error.details.causes


def _finding(found: Comparison) -> ManifestReason:
    if not found.details:
        return ManifestReason.NO_DIFF
    return ManifestReason.DIFF_DEGRADED if found.degraded else ManifestReason.DIFF

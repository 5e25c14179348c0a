"""Bringing manifests to the member, wave after wave, side by side inside a wave.

contract: placement 8 and 12
"""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from agent.manifests import Manifest, serve, spec_hash
from agent.settings import OBJECT_MANAGER
from api import names
from api.applying import ApplyStrategy, ApplyType, WhenToApply, WhenToTakeOver
from api.base import OwnerReference
from api.kinds import Kind
from api.reasons import ApplyError, ManifestReason
from hub import Hub, HubError, Json, TooManyRequests, Unavailable
from planning.members import apply_waves, availability, takeovers
from planning.members.work_conditions import Outcome, Refusal


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one manifest, and which version of the object the member has now."""

    manifest: Manifest
    outcome: Outcome
    version: str = ""
    """Resource version of the object; empty when the manifest was not applied."""
    uid: str = ""


class Applier:
    """Applies the manifests of Works to one member."""

    def __init__(self, cluster: Hub, *, at_once: int) -> None:
        self._cluster = cluster
        self._turns = asyncio.Semaphore(at_once)

    async def apply(
        self, manifests: Sequence[Manifest], *, owner: OwnerReference, strategy: ApplyStrategy
    ) -> list[Applied]:
        """Apply all manifests; one entry each, in their order.

        Raises:
            HubError: the member cannot be reached; some manifests may have been applied.
        """
        done: list[Applied] = []
        for wave in apply_waves.waves(manifests, kind_of=lambda each: each.kind):
            done += await _all(self._in_turn(each, owner, strategy) for each in wave)
        return sorted(done, key=lambda each: each.manifest.identifier.ordinal)

    async def _in_turn(
        self, manifest: Manifest, owner: OwnerReference, strategy: ApplyStrategy
    ) -> Applied:
        async with self._turns:
            manifest = await serve(manifest, cluster=self._cluster)
            if manifest.refusal is not None or manifest.kind is None:
                return refused(manifest, manifest.refusal)
            return await _Write(self._cluster, manifest, manifest.kind, owner, strategy).run()


def judged(manifest: Manifest, kind: Kind, live: Json) -> Applied:
    """An applied manifest, with what its object says of itself."""
    metadata = live["metadata"]
    return Applied(
        manifest=manifest,
        outcome=Outcome(
            identifier=manifest.identifier,
            generation=metadata.get("generation", 0),
            availability=availability.judge(kind, live),
        ),
        version=metadata["resourceVersion"],
        uid=metadata["uid"],
    )


def refused(manifest: Manifest, refusal: Refusal | None, live: Json | None = None) -> Applied:
    """A manifest that was not applied, and why; `live` is the object that is there instead."""
    generation = live["metadata"].get("generation", 0) if live else 0
    outcome = Outcome(identifier=manifest.identifier, refusal=refusal, generation=generation)
    return Applied(manifest=manifest, outcome=outcome)


async def _all(attempts: Iterable[Coroutine[Any, Any, Applied]]) -> list[Applied]:
    """Await every attempt even when one fails: none may go on behind the caller's back."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, Applied)]


@dataclass(frozen=True, slots=True)
class _Write:
    """One attempt to bring one manifest to the member."""

    cluster: Hub
    manifest: Manifest
    kind: Kind
    owner: OwnerReference
    strategy: ApplyStrategy

    async def run(self) -> Applied:
        """Find the object, see whether it may be written, write it."""
        identifier, live = self.manifest.identifier, None
        try:
            live = await self.cluster.find(
                self.kind, identifier.name, namespace=identifier.namespace
            )
            refusal = takeovers.refusal(live, uid=self.owner.uid, strategy=self.strategy)
            refusal = refusal or await self._objection(live)
            if refusal is None:
                return judged(self.manifest, self.kind, await self._apply())
        except HubError as error:
            if passes(error):
                raise
            refusal = self._failure(error, live)
        return refused(self.manifest, refusal, live)

    async def _objection(self, live: Json | None) -> Refusal | None:
        """What the strategy says against writing an object that is not as the manifest says."""
        if live is None:
            return None
        if not takeovers.is_owned(live, uid=self.owner.uid):
            careful = self.strategy.when_to_take_over is WhenToTakeOver.IF_NO_DIFF
            refusal = Refusal(ManifestReason.TAKE_OVER_FAILED, ApplyError.DIFFERENT)
            body = self.manifest.body
        else:
            # A new version of the manifest differs from the object, and that is no drift.
            careful = self.strategy.when_to_apply is WhenToApply.IF_NOT_DRIFTED and _noted_hash(
                live
            ) == spec_hash(self.manifest.body)
            refusal = Refusal(ManifestReason.DRIFTED, ApplyError.DRIFTED)
            body = self._body()
        if careful and takeovers.differs(live, await self._write(body, dry_run=True)):
            return refusal
        return None

    async def _apply(self) -> Json:
        # The seam for client-side apply, which is server-side apply with force until then.
        config = self.strategy.server_side_apply_config
        force = self.strategy.type is ApplyType.CLIENT_SIDE_APPLY or bool(config and config.force)
        return await self._write(self._body(), force=force)

    async def _write(self, body: Json, *, force: bool = True, dry_run: bool = False) -> Json:
        return await self.cluster.apply(
            self.kind, body, manager=OBJECT_MANAGER, force=force, dry_run=dry_run
        )

    def _body(self) -> Json:
        """The manifest with what makes the object the agent's own."""
        body = self.manifest.body
        annotations = body["metadata"].get("annotations") or {}
        owned = {
            "annotations": annotations | {names.SPEC_HASH: spec_hash(body)},
            "ownerReferences": [self.owner.to_wire()],
        }
        return body | {"metadata": body["metadata"] | owned}

    def _failure(self, error: HubError, live: Json | None) -> Refusal:
        if self.strategy.type is ApplyType.SERVER_SIDE_APPLY:
            doing = "failed to apply the manifest object: an error is"
        elif live is not None:
            doing = "failed to patch the manifest object: error"
        else:
            doing = "failed to create manifest object: error"
        text = f"failed to apply the manifest: {doing} returned by the API server: {error}"
        return Refusal(ManifestReason.APPLY_FAILED, text)


def passes(error: HubError) -> bool:
    """Whether an error is about the member's API server as a whole, not about one object.

    An internal error (500) is mostly an admission webhook that cannot be reached; it may last,
    so people must see it in the Work.
    """
    if isinstance(error, TooManyRequests):
        return True
    return isinstance(error, Unavailable) and error.code != HTTPStatus.INTERNAL_SERVER_ERROR


def _noted_hash(live: Json) -> str:
    annotations = live["metadata"].get("annotations") or {}
    return str(annotations.get(names.SPEC_HASH, ""))

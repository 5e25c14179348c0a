"""Bringing one Work to the member: record it, apply it, remove what it no longer names.

contract: placement 8
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import monotonic

from agent import leftovers, manifests
from agent.applied import Applied, refused
from agent.applying import Applier
from agent.manifests import Manifest
from agent.object_watches import ObjectWatches
from agent.progress import WorkProgress, spot_of
from agent.records import Records, is_of, owner_reference
from agent.settings import AgentSettings
from api import names
from api.applying import ApplyStrategy, ApplyType, ReportBackType
from api.reasons import ManifestReason
from api.works import AppliedWork, Work
from hub import Hub
from planning.members import applied_resources
from planning.members.applied_resources import identity
from planning.members.outcomes import Refusal


class Processor:
    """Applies whole Works to one member."""

    def __init__(
        self,
        cluster: Hub,
        *,
        watches: ObjectWatches,
        settings: AgentSettings,
        is_orphan: Callable[[str], bool],
    ) -> None:
        self._cluster = cluster
        self._watches = watches
        self._records = Records(cluster)
        self._applier = Applier(cluster, at_once=settings.writes_at_once, is_orphan=is_orphan)

    async def process(self, work: Work) -> WorkProgress | None:
        """Apply a Work; None while an earlier AppliedWork of its name is being deleted.

        Raises:
            HubError: the member cannot be reached; it is safe to process the Work again.
        """
        strategy = work.spec.apply_strategy or ApplyStrategy()
        if strategy.type is ApplyType.REPORT_DIFF:
            return await self._compare(work, strategy)
        record = await self._records.open(work)
        if not is_of(record, work):
            return await self._refuse(work, _claimed(record))
        if record.metadata.deletion_timestamp is not None:
            return None
        wanted = await manifests.read(work, cluster=self._cluster)
        identifiers = [each.identifier for each in wanted]
        recorded = record.status.applied_resources
        # Recorded before anything is applied, so an agent that dies in between loses nothing.
        noted = applied_resources.record(recorded, wanted=identifiers, uids={})
        await self._records.note(record, noted)
        self._watch(work.metadata.name, wanted)

        owner = owner_reference(record)
        applied = await self._applier.apply(wanted, owner=owner, strategy=strategy)
        superfluous = applied_resources.left_over(recorded, wanted=identifiers)
        remaining = await leftovers.remove(superfluous, owner_uid=owner.uid, cluster=self._cluster)
        kept = [each for each in noted if each not in superfluous or each in remaining]
        final = applied_resources.record(kept, wanted=identifiers, uids=_uids(applied))
        await self._records.note(record, final)
        self._watch(work.metadata.name, (each.manifest for each in applied))
        return WorkProgress(
            uid=work.metadata.uid,
            generation=work.metadata.generation,
            again=work.metadata.annotations.get(names.APPLY_AGAIN, ""),
            applied=_treated(applied),
            processed_at=monotonic(),
            remaining=remaining,
            mirrors=_mirrors(work),
        )

    async def _compare(self, work: Work, strategy: ApplyStrategy) -> WorkProgress:
        """Report the differences and change nothing."""
        wanted = await manifests.read(work, cluster=self._cluster)
        self._watch(work.metadata.name, wanted)
        return WorkProgress(
            uid=work.metadata.uid,
            generation=work.metadata.generation,
            again=work.metadata.annotations.get(names.APPLY_AGAIN, ""),
            applied=_treated(await self._applier.compare(wanted, strategy=strategy)),
            processed_at=monotonic(),
            diff_only=True,
        )

    async def _refuse(self, work: Work, refusal: Refusal) -> WorkProgress:
        """Report why the Work is refused, and change nothing."""
        wanted = await manifests.read(work, cluster=self._cluster)
        return WorkProgress(
            uid=work.metadata.uid,
            generation=work.metadata.generation,
            again=work.metadata.annotations.get(names.APPLY_AGAIN, ""),
            applied=_treated([refused(each, refusal) for each in wanted]),
            processed_at=monotonic(),
        )

    async def remove(self, work: Work) -> bool:
        """Delete everything that a Work put on the member; return True once it is all gone."""
        record = await self._records.find(work.metadata.name)
        if record is None or not is_of(record, work):
            return True
        await self._records.remove(record)
        return False

    def _watch(self, work: str, wanted: Iterable[Manifest]) -> None:
        spots = {spot_of(each) for each in wanted}
        self._watches.look(work, (spot for spot in spots if spot is not None))


def _treated(applied: Iterable[Applied]) -> list[Applied]:
    """Return the results without the objects' content, which is in the Work."""
    return [replace(each, manifest=manifests.without_content(each.manifest)) for each in applied]


def _mirrors(work: Work) -> bool:
    strategy = work.spec.report_back_strategy
    return strategy is not None and strategy.type is ReportBackType.MIRROR


def _claimed(record: AppliedWork) -> Refusal:
    spec = record.spec
    return Refusal(
        ManifestReason.TAKE_OVER_FAILED,
        f"AppliedWork {record.metadata.name} on the member stands for Work "
        f"{spec.work_namespace}/{spec.work_name}: another fleet uses this cluster as its member",
    )


def _uids(applied: Sequence[Applied]) -> dict[applied_resources.Identity, str]:
    return {
        identity(each.outcome.identifier): each.uid for each in applied if each.outcome.is_applied
    }

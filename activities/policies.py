"""Writing what rollout policies and decisions came to: reports, and answers to decisions.

policies: 2.2, 2.3
"""

from temporalio import activity

from activities import stubs
from activities.before import changed_by
from activities.errors import told_to_temporal
from activities.requests import (
    AnswerDecision,
    DecisionMade,
    DecisionRead,
    ReadDecision,
    WriteReport,
)
from api.kinds import Kind
from api.rollout_decisions import BaseRolloutDecision, RolloutDecisionStatus
from api.rollout_reports import RolloutReportStatus
from hub import Hub, Json, SharedCaches
from planning.identity import RunRef

MANAGER = "fleetgate-engine"


class PolicyActivities:
    """Writes what became of rules and decisions; every call may be repeated."""

    def __init__(self, hub: Hub, caches: SharedCaches) -> None:
        self._hub = hub
        self._caches = caches

    @activity.defn(name=stubs.WRITE_REPORT.name)
    async def write_report(self, request: WriteReport) -> None:
        """Write the whole report of a run, and create it first if it does not exist."""
        with told_to_temporal():
            run, report = request.run, await self._with_previous(request)
            await write_owned(
                self._hub,
                run.scope.report,
                run.named(run.name),
                report.to_wire(),
                owner=run,
                manager=MANAGER,
            )

    async def _with_previous(self, request: WriteReport) -> RolloutReportStatus:
        """Return the report with the snapshot that each cluster in it had before the run."""
        report = request.report
        if not any(each.stage for each in report.clusters):
            return report
        before = await changed_by(self._hub, request.run, request.placement, caches=self._caches)
        clusters = [
            each.model_copy(update={"previous_index": before.get(each.name, each.previous_index)})
            for each in report.clusters
        ]
        return report.model_copy(update={"clusters": clusters})

    @activity.defn(name=stubs.READ_DECISION.name)
    async def read_decision(self, request: ReadDecision) -> DecisionRead:
        """Return a decision from the hub, where no one can forge who made it.

        Whoever can send messages through Temporal could claim anything.
        """
        run = request.run
        with told_to_temporal():
            found = await self._hub.find(run.scope.decision, request.name, namespace=run.namespace)
        if found is None or found["metadata"]["uid"] != request.uid:
            return DecisionRead()
        spec = BaseRolloutDecision.from_wire(found).spec
        if spec.run != run.name or spec.run_uid not in ("", run.uid):
            return DecisionRead()
        made = DecisionMade(
            decision=spec.decision,
            cluster=spec.cluster,
            reason=spec.reason,
            by=spec.by.username if spec.by else "",
        )
        return DecisionRead(made=made)

    @activity.defn(name=stubs.ANSWER_DECISION.name)
    async def answer_decision(self, request: AnswerDecision) -> None:
        """Write what became of a decision; one that was deleted meanwhile needs no answer."""
        with told_to_temporal():
            kind, run = request.run.scope.decision, request.run
            if await self._hub.find(kind, request.name, namespace=run.namespace) is None:
                return
            metadata = run.named(request.name) | {"uid": request.uid}
            answer = RolloutDecisionStatus(
                state=request.state, message=request.message, at=request.at
            )
            await write_owned(
                self._hub, kind, metadata, answer.to_wire(), owner=run, manager=MANAGER
            )


async def write_owned(
    hub: Hub, kind: Kind, metadata: Json, status: Json, *, owner: RunRef | None, manager: str
) -> None:
    """Write an object's status, after making a run its owner, so that it is deleted with that.

    The object is created if it does not exist and `metadata` has no UID. Raises HubError.
    """
    if owner:
        owned = metadata | {"ownerReferences": [owner.as_owner]}
        await hub.apply(kind, {"metadata": owned}, manager=manager)
    body = {"metadata": metadata, "status": status}
    await hub.apply(kind, body, subresource="status", manager=manager)

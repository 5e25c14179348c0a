"""Giving one approval, and following the run afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from api.approvals import BaseApprovalRequest
from api.runs import UpdateRun
from hub import Hub
from planning.runs import approvals, phases, views
from planning.runs.gates import PendingApproval
from planning.runs.phases import Phase
from starter.acting import Written, act
from starter.approve.choosing import choose, none_open
from starter.patience import Patience
from starter.run.waiting import Waiting
from starter.targets import Target
from workflows.messages import Approve


@dataclass(frozen=True, slots=True)
class Desk:
    """Gives approvals on one hub, and follows the approved runs."""

    hub: Hub
    target: Target
    patience: Patience

    async def give(self, run: UpdateRun, wanted: Approve) -> str:
        """Approve the open gate that matches, and return the answer.

        Raises Failure if no open gate matches, or several do.
        """
        view = views.of(run)
        gate = choose(view, wanted)
        if gate:
            wanted = wanted.model_copy(update={"stage": gate.stage, "side": gate.side})

        async def write(known: PendingApproval | None) -> Written:
            # The workflow may have just opened a gate that the run's status does not show yet.
            open_gate = known or gate
            if open_gate is None:
                raise none_open(view, wanted)
            place = {"stage": open_gate.stage, "side": open_gate.side}
            return await self._write(open_gate.request, wanted.model_copy(update=place))

        return await act(self.target, run, "approve", wanted, write=write)

    async def follow(self, run: UpdateRun) -> Sequence[str]:
        """Wait until the run has passed the gate, and return what it does next as lines."""
        # A stopped run passes the gate only once it is started again (contract: update-runs 10.3).
        if phases.phase(run.status) in {Phase.STOPPING, Phase.STOPPED} or not self.patience.wait:
            return []
        before = views.of(run).gates.approved
        waiting = Waiting(self.hub, self.target, self.patience.timeout)
        return await waiting.until_under_way(
            run, also=lambda view: view.phase in phases.ENDED or view.gates.approved > before
        )

    async def _write(self, name: str, message: Approve) -> Written:
        """Write the approval to its request, as people do with kubectl."""
        kind, namespace = self.target.scope.approval, self.target.namespace
        told = message.model_copy(update={"on_object": True})
        done = f"stage {message.stage} ({message.side}) is approved"
        body = await self.hub.get(kind, name, namespace=namespace)
        request = BaseApprovalRequest.from_wire(body)
        if approvals.approved(request):
            return Written(told, f"{kind} {name} is already approved", done)
        condition = approvals.approval(
            request, by=message.by, comment=message.comment, now=datetime.now(UTC)
        )
        metadata = {"name": name, "namespace": namespace, "uid": body["metadata"]["uid"]}
        status = {"conditions": [condition.to_wire()]}
        await self.hub.apply(kind, {"metadata": metadata, "status": status}, subresource="status")
        text = f"wrote the approval to {kind} {name}; a worker will process it"
        return Written(told, text, done)

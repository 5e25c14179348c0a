"""Giving one approval, and seeing what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from api.approvals import BaseApprovalRequest
from api.runs import UpdateRun
from hub import Hub
from planning.runs import approvals
from starter import views
from starter.acting import tell
from starter.approve.choosing import choose, none_open
from starter.patience import Patience
from starter.run.waiting import Waiting
from starter.targets import Target
from starter.views import Phase
from workflows.messages import Approve


@dataclass(frozen=True, slots=True)
class Desk:
    """Where approvals are given: a hub, and how long to wait there for what comes of them."""

    hub: Hub
    target: Target
    patience: Patience

    async def give(self, run: UpdateRun, wanted: Approve) -> str:
        """Approve the one open gate that is meant, and return the answer.

        Raises Failure when none is meant, or several are.
        """
        view = views.of(run)
        gate = choose(view, wanted)
        if gate:
            wanted = wanted.model_copy(update={"stage": gate.stage, "side": gate.side})

        async def write() -> str:
            if gate is None:
                raise none_open(view, wanted)
            return await self._write(gate.request, wanted)

        # Without a gate in the object too: the workflow may have opened one a moment ago.
        return await tell(self.target, run, "approve", wanted, otherwise=write)

    async def follow(self, run: UpdateRun) -> Sequence[str]:
        """Wait until a run has gone through the gate, and tell what it does then."""
        # A stopped run goes through when it is started (contract: update-runs 10.3).
        if views.phase(run) in {Phase.STOPPING, Phase.STOPPED} or not self.patience.wait:
            return []
        before = views.of(run).gates.approved
        waiting = Waiting(self.hub, self.target, self.patience.timeout)
        return await waiting.until_under_way(
            run, also=lambda view: view.phase in views.ENDED or view.gates.approved > before
        )

    async def _write(self, name: str, message: Approve) -> str:
        """Write the approval into its request, as people do with kubectl."""
        kind, namespace = self.target.scope.approval, self.target.namespace
        body = await self.hub.get(kind, name, namespace=namespace)
        condition = approvals.approval(
            BaseApprovalRequest.from_wire(body),
            by=message.by,
            comment=message.comment,
            now=datetime.now(UTC),
        )
        metadata = {"name": name, "namespace": namespace, "uid": body["metadata"]["uid"]}
        status = {"conditions": [condition.to_wire()]}
        await self.hub.apply(kind, {"metadata": metadata, "status": status}, subresource="status")
        return f"wrote the approval to {kind} {name}, a worker will follow it"

"""Reading the runs of a placement, for a run that may have to wait for the others.

policies: 2.1 (concurrentRuns), 3
"""

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.requests import ReadLine
from api.runs import UpdateRun
from hub import Hub
from planning.policies import queueing
from planning.policies.queueing import Line
from planning.runs import phases


class QueueActivities:
    """Reads runs; changes nothing."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name=stubs.READ_LINE.name)
    async def read_line(self, request: ReadLine) -> Line:
        """Return what a run sees of the others, all as of one moment after the call.

        Read from the API server and not from a watch, which may be behind: a claim that was written
        before the call must be seen.
        """
        with told_to_temporal():
            run, found = request.run, []
            async for page in self._hub.pages(run.scope.run, namespace=run.namespace):
                found += [
                    UpdateRun.from_wire(body)
                    for body in page.items
                    if body["spec"]["placementName"] == request.placement
                    and not phases.body_has_ended(body)
                ]
            return queueing.line(found, uid=run.uid)

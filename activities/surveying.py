"""Looking at the hub: the facts that initialization and validation decide from.

contract: update-runs 7 and 9
"""

from temporalio import activity

from activities.errors import told_to_temporal
from activities.looking import look
from activities.requests import Survey, Surveyed
from api.reasons import ConditionType
from api.runs import UpdateRun
from hub import Hub
from planning import conditions
from planning.identity import RunRef
from planning.runs import initialization


class SurveyingActivities:
    """Reads the hub; changes nothing."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name="survey")
    async def survey(self, request: Survey) -> Surveyed:
        """Gather everything that decides about a run, in one look.

        Raises (retried): the hub is away, or others are half way through a change.
        """
        with told_to_temporal():
            return await self._survey(request)

    async def _survey(self, request: Survey) -> Surveyed:
        run = await self._run(request.run)
        if run is None:
            return Surveyed()
        facts = await look(
            self._hub,
            request.run,
            run.spec,
            generation=run.metadata.generation,
            label_keys=request.label_keys,
            content=request.content,
        )
        if request.settled:
            # Here and not in the workflow: Temporal repeats an activity without a trace in history.
            initialization.check_settled(facts, run=request.run)
        planned = conditions.find(run.status.conditions, ConditionType.INITIALIZED)
        return Surveyed(facts=facts, recorded=run.status if request.recall and planned else None)

    async def _run(self, ref: RunRef) -> UpdateRun | None:
        found = await self._hub.find(ref.scope.run, ref.name, namespace=ref.namespace)
        run = UpdateRun.from_wire(found) if found else None
        return run if run and run.metadata.uid == ref.uid else None

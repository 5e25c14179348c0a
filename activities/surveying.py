"""Reading from the hub the facts on which initialization and validation decide.

contract: update-runs 7 and 9
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.events import write
from activities.looking import look
from activities.requests import Survey, Surveyed
from activities.rules import recorded_report, rules_for, typical_time
from api.reasons import ConditionType, placement_condition
from api.runs import UpdateRun
from hub import Hub
from planning import conditions
from planning.errors import TransientState
from planning.events import EventSubject
from planning.identity import RunRef
from planning.policies import reporting
from planning.policies.reporting import Remembered
from planning.runs import initialization, run_events
from planning.runs.facts import HubFacts
from planning.runs.rules import RunRules

LOOKED_AT_WITHIN: Final = timedelta(seconds=30)
"""How long a run waits for the first scheduling decision about its placement: both may have been
created from one file."""


class SurveyingActivities:
    """Reads the hub; changes nothing."""

    def __init__(self, hub: Hub, *, places: bool) -> None:
        """`places` says that fleetgate itself decides which clusters placements pick."""
        self._hub = hub
        self._places = places

    @activity.defn(name=stubs.SURVEY.name)
    async def survey(self, request: Survey) -> Surveyed:
        """Gather everything that decides about a run, at one time.

        Raises (retried): the hub is unreachable, others are half way through a change, or the
        scheduler has not seen a placement that was created together with its run.
        """
        with told_to_temporal():
            return await self._survey(request)

    async def _survey(self, request: Survey) -> Surveyed:
        run = await self._run(request.run)
        if run is None:
            return Surveyed()
        planned = conditions.find(run.status.conditions, ConditionType.INITIALIZED)
        facts = await look(
            self._hub,
            request.run,
            run.spec,
            generation=run.metadata.generation,
            label_keys=request.label_keys,
            content=request.content,
        )
        if request.settled:
            # Not in the workflow, because retries of an activity leave no trace in history.
            initialization.check_settled(facts, run=request.run)
        if request.known and facts.digest == request.known:
            return Surveyed(unchanged=True)
        if request.settled and not planned:
            await self._check_looked_at(facts, request.run)
        if not request.recall:
            return Surveyed(facts=facts)
        if planned:
            said = reporting.remembered(await recorded_report(self._hub, request.run))
        else:
            annotations = run.metadata.annotations
            rules = await rules_for(self._hub, request.run, facts, annotations=annotations)
            said = Remembered(rules=rules)
        return Surveyed(
            facts=facts,
            remembered=said,
            recorded=run.status if planned else None,
            cluster_takes=await self._cluster_takes(request.run, facts, said.rules),
        )

    async def _cluster_takes(
        self, run: RunRef, facts: HubFacts, rules: RunRules
    ) -> timedelta | None:
        # Only for the report, which a run without rules does not have.
        return await typical_time(self._hub, run, facts) if rules.fields else None

    async def _check_looked_at(self, facts: HubFacts, run: RunRef) -> None:
        """Wait for the scheduler, if there is one; what is still missing afterwards is a fault."""
        try:
            initialization.check_looked_at(facts, run=run)
        except TransientState as why:
            info = activity.info()
            waited = info.started_time - info.scheduled_time
            if waited > LOOKED_AT_WITHIN or not await self._has_scheduler(run):
                return
            if info.attempt == 1:
                event = run_events.placement_awaited(
                    str(why), within=LOOKED_AT_WITHIN, now=datetime.now(UTC)
                )
                await write(self._hub, event, EventSubject.of(run))
            raise

    async def _has_scheduler(self, run: RunRef) -> bool:
        """Return whether there is a scheduler: fleetgate, or another that shows in placements."""
        if self._places:
            return True
        found = (await self._hub.list(run.scope.placement)).items
        scheduled = placement_condition(run.scope.placement, ConditionType.SCHEDULED)
        return any(
            condition["type"] == scheduled
            for each in found
            for condition in each.get("status", {}).get("conditions", [])
        )

    async def _run(self, ref: RunRef) -> UpdateRun | None:
        found = await self._hub.find(ref.scope.run, ref.name, namespace=ref.namespace)
        run = UpdateRun.from_wire(found) if found else None
        return run if run and run.metadata.uid == ref.uid else None

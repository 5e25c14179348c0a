"""Waiting for other runs of the placement, where a rollout policy says so.

`planning.policies.queueing` decides, and explains why two runs never both begin. Here its steps are
carried out: each claim is on the hub before the run looks, and nothing starts before the hub has
that the run has begun.

policies: 2.1 (concurrentRuns), 3
"""

from datetime import timedelta
from typing import Final, NoReturn

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import ReadLine
    from api.rollout_policies import ConcurrentRuns
    from planning import failures
    from planning.identity import RunRef
    from planning.policies import queueing, texts
    from planning.policies.queueing import Line, Rival, Step
    from planning.runs import marks
    from workflows import calls
    from workflows.messages import SUPERSEDE, Superseded
    from workflows.mirror import StatusMirror
    from workflows.rollout import Rollout

PATIENCE: Final = timedelta(seconds=5)
"""Pause before the next look while no bridge says that something has changed. Each look adds about
ten events to history, so the pauses grow."""
MOST_PATIENCE: Final = timedelta(minutes=5)
"""The longest pause."""
SHORTLY: Final = timedelta(seconds=1)
"""Pause while another run, which is about to take its claim back, keeps this one from beginning."""


class Queue:
    """Lets the run begin when it is its turn."""

    def __init__(self, rollout: Rollout, mirror: StatusMirror) -> None:
        self._rollout = rollout
        self._mirror = mirror
        self._patience = PATIENCE
        self._has_waited = False

    def announce(self) -> None:
        """Claim in the same write that has the plan, if the run is to begin at once."""
        rollout = self._rollout
        never_asked = queueing.admission(rollout.ledger.status) is None
        if never_asked and rollout.intent.may_run and not rollout.has_turn:
            marks.admission_requested(rollout.ledger, workflow.now())

    async def take_turn(self) -> None:
        """Wait until it is the run's turn; return at once if it need not ask, or has begun.

        Raises:
            RunAborted: the run's policy refuses to let it begin.
        """
        while not self._rollout.has_turn:
            await self._until_free()
            await self._until_written()
            # A change that is reported from here on makes this look out of date.
            news = self._rollout.turn.news
            seen = await self._look()
            # A stop may have come meanwhile.
            if self._rollout.may_begin:
                await self._carry_out(seen, news)

    # -- one look --------------------------------------------------------------------------

    async def _until_free(self) -> None:
        """Wait until new work may start; a run that is stopped claims nothing."""
        rollout = self._rollout
        while not rollout.may_begin:
            if self._is_to_leave():
                rollout.turn.stand_at(None)
                self._withdraw()
            await workflow.wait_condition(lambda: rollout.may_begin or self._is_to_leave())

    def _is_to_leave(self) -> bool:
        """Return whether the run is stopped and still stands in the line."""
        rollout = self._rollout
        stands = rollout.turn.place is not None or queueing.claims(rollout.ledger.status)
        return stands and not rollout.intent.may_run

    def _withdraw(self) -> None:
        ledger = self._rollout.ledger
        if queueing.claims(ledger.status):
            marks.run_withdrawn(ledger, workflow.now())

    async def _until_written(self) -> None:
        while not self._mirror.is_clean:
            await workflow.wait_condition(lambda: self._mirror.is_clean)

    async def _look(self) -> Line:
        rollout = self._rollout
        request = ReadLine(run=rollout.run, placement=rollout.placement)
        seen = await calls.effect(stubs.READ_LINE, request, summary="runs of the placement")
        if not seen.is_there:
            rollout.lose_run()
            # The guard ends a workflow whose run is gone.
            await workflow.wait_condition(lambda: False)
        return seen

    async def _carry_out(self, seen: Line, news: int) -> None:
        match queueing.step(seen, self._mode):
            case Step.CLAIM:
                self._claim()
            case Step.BEGIN:
                await self._begin()
            case Step.REFUSE:
                self._refuse(seen)
            case Step.HOLD:
                self._stand(seen, withdrawn=False)
                await self._until_news(news, SHORTLY)
            case Step.WAIT:
                self._stand(seen, withdrawn=True)
                if self._mode is ConcurrentRuns.SUPERSEDE:
                    await self._supersede([each for each in seen.rivals if each.is_older])
                await self._until_news(news, self._patience)
                self._patience = min(2 * self._patience, MOST_PATIENCE)

    @property
    def _mode(self) -> ConcurrentRuns:
        mode = self._rollout.rules.concurrent_runs
        # The rules are lost with the run's report, but the run has asked before.
        return ConcurrentRuns.QUEUE if mode is ConcurrentRuns.ALLOW else mode

    # -- its steps -------------------------------------------------------------------------

    def _claim(self) -> None:
        ledger = self._rollout.ledger
        if queueing.claims(ledger.status):
            # Someone has removed the claim from the hub.
            ledger.touch("")
        marks.admission_requested(ledger, workflow.now())

    async def _begin(self) -> None:
        rollout = self._rollout
        rollout.turn.stand_at(None)
        marks.run_admitted(rollout.ledger, workflow.now())
        if self._has_waited:
            # The runs before this one have changed the placement.
            rollout.rechecks.request()
        await self._until_written()

    def _refuse(self, seen: Line) -> NoReturn:
        rollout, place = self._rollout, queueing.place(seen, self._mode)
        assert place is not None, "another run is ahead"
        failure = failures.NOT_ADMITTED
        text = failure.words(run=place.behind)
        marks.run_refused(rollout.ledger, text, workflow.now())
        raise failure.error(run=place.behind)

    def _stand(self, seen: Line, *, withdrawn: bool) -> None:
        rollout, place = self._rollout, queueing.place(seen, self._mode)
        assert place is not None, "another run is ahead"
        rollout.turn.stand_at(place)
        text = texts.queued(place)
        marks.run_queued(rollout.ledger, text, workflow.now(), withdrawn=withdrawn)
        self._has_waited = True

    async def _until_news(self, news: int, patience: timedelta) -> None:
        rollout = self._rollout
        try:
            await workflow.wait_condition(
                lambda: rollout.turn.news != news or not rollout.may_begin,
                timeout=patience,
                timeout_summary="wait for other runs of the placement",
            )
        except TimeoutError:
            return
        self._patience = PATIENCE

    # -- replacing older runs, and being replaced ------------------------------------------

    async def _supersede(self, older: list[Rival]) -> None:
        """Tell older runs to end, at each look, because one may have lost its workflow."""
        run = self._rollout.run
        for each in older:
            ref = RunRef(
                scope_name=run.scope_name, namespace=run.namespace, name=each.name, uid=each.uid
            )
            handle = workflow.get_external_workflow_handle(ref.workflow_id)
            try:
                await handle.signal(SUPERSEDE, Superseded(by=run.name))
            except FailureError as error:
                if is_cancelled_exception(error):
                    raise
                # The bridge starts a workflow that is missing, and the next look tells it.
                fields = self._rollout.log_fields
                workflow.logger.info("run %s not told: %s", each.name, error, extra=fields)

    async def until_superseded(self) -> NoReturn:
        """Wait until a newer run replaces this one and no cluster is in flight, then end it.

        Raises:
            Superseded: in any case.
        """
        rollout, turn = self._rollout, self._rollout.turn
        await workflow.wait_condition(lambda: rollout.planned and turn.superseded)
        if rollout.position.in_flight:
            text = texts.superseding(turn.superseded_by)
            marks.run_superseded(rollout.ledger, text, workflow.now())
        # A cluster that ends while the workflow is about to continue as new is left for the next
        # execution.
        await workflow.wait_condition(lambda: not (rollout.position.in_flight or rollout.renewing))
        raise failures.REPLACED.error(newer=texts.newer_run(turn.superseded_by))

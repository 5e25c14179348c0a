"""Stop and resume: accepting requests from either side, and keeping both sides and the run in sync.

The desired state is spec.state on the hub. A request through Temporal takes effect at once and is
written to the spec; one made on the hub arrives as a signal with the spec's generation.

contract: update-runs 10; decision record 0004
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import SetState
    from api.runs import RunState
    from planning import signatures
    from planning.runs import lifecycle, marks
    from planning.runs.phases import Phase, phase
    from planning.runs.spec_news import Spec
    from planning.runs.steering import Steered
    from workflows import calls
    from workflows.messages import ChangeState
    from workflows.rollout import Rollout


class DesiredState:
    """The state that people want the run to be in, and the steps that bring it there."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._wish: RunState | None = None
        """A requested state that has not been written to the hub yet."""
        self._message = ChangeState()
        """The message that requested it."""
        self._refused = ""
        """Why the hub refused the last requested state; empty if it did not."""
        self._early: list[tuple[RunState, ChangeState]] = []
        """Requests that arrived before the first survey of the hub."""

    # -- requests --------------------------------------------------------------------------

    def refusal(self, wanted: RunState) -> str | None:
        """Return why a state cannot be requested; None if it can, as far as is known."""
        rollout = self._rollout
        if not (self._knows_hub or rollout.finished):
            return None
        return lifecycle.refusal(
            rollout.intent.state, wanted, run=rollout.run.name, ended=rollout.finished
        )

    def take(self, wanted: RunState, message: ChangeState) -> None:
        """Accept a request. One that is outdated, repeated or impossible changes nothing."""
        rollout = self._rollout
        if message.generation is not None:
            asked = Steered(by=message.by, comment=message.comment)
            rollout.hear(Spec(message.generation, wanted, asked))
            return
        if not self._knows_hub:
            self._early.append((wanted, message))
        elif wanted is not rollout.intent.state and self.refusal(wanted) is None:
            self._wish, self._message = wanted, message
            by = signatures.of_temporal(message.by)
            rollout.ask(wanted, Steered(by=by, comment=message.comment))

    @property
    def is_settled(self) -> bool:
        """Whether the hub has the last requested state, or can no longer accept one."""
        over = self._rollout.gone or self._rollout.ledger.closed
        return self._wish is None and (over or not self._early)

    async def settled(self) -> str:
        """Wait until the hub has the last requested state; return why if it was refused."""
        await workflow.wait_condition(lambda: self.is_settled)
        if self._early:
            return lifecycle.over(self._rollout.run.name)
        return self._refused

    @property
    def _knows_hub(self) -> bool:
        """Whether the desired state has been read from the hub."""
        return self._rollout.ledger.generation > 0

    # -- background tasks ------------------------------------------------------------------

    async def tell_hub(self) -> None:
        """Write requested states to the run's spec, until cancelled."""
        await workflow.wait_condition(lambda: self._knows_hub)
        self._take_early()
        while True:
            await workflow.wait_condition(lambda: self._wish is not None)
            wish, message = self._wish, self._message
            assert wish is not None, "waited for above, and nothing ran in between"
            request = SetState(
                run=self._rollout.run, state=wish, by=message.by, comment=message.comment
            )
            # During the write another request may arrive, from the same person or from the hub.
            written = await calls.effect(stubs.SET_STATE, request, summary=wish.value)
            self._refused = written.refused
            self._rollout.hear(Spec(written.generation, written.state))
            if self._wish is wish:
                self._wish = None
                self._rollout.ask(written.state)

    def _take_early(self) -> None:
        early, self._early = self._early, []
        for wanted, message in early:
            self._refused = self.refusal(wanted) or ""
            self.take(wanted, message)

    async def keep_stops(self) -> None:
        """Stop and resume the run as requested, until cancelled.

        This updates the status and holds or releases everything that waits for the run.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(
                lambda: rollout.planned and rollout.intent.state is RunState.STOP
            )
            rollout.intent.observe_stop()
            if not self._is_stopped:
                marks.stopping(rollout.ledger, rollout.position.stage, workflow.now())
            self._still_stuck()
            await workflow.wait_condition(
                lambda: rollout.intent.state is RunState.RUN or not rollout.position.in_flight
            )
            if rollout.intent.state is RunState.STOP:
                marks.stopped(rollout.ledger, rollout.position.stage, workflow.now())
                await workflow.wait_condition(lambda: rollout.intent.state is RunState.RUN)
            self._resume()

    @property
    def _is_stopped(self) -> bool:
        """Whether the run had already stopped under an earlier workflow."""
        return phase(self._rollout.ledger.status) is Phase.STOPPED

    def _resume(self) -> None:
        rollout, now = self._rollout, workflow.now()
        rollout.go_on()
        if rollout.has_turn:
            marks.run_progressing(rollout.ledger, now)
        if rollout.position.open_side:
            marks.waiting(rollout.ledger, rollout.position.stage, rollout.position.open_side, now)
        self._still_stuck()
        rollout.intent.end_stop()

    def _still_stuck(self) -> None:
        """Report again the clusters that were stuck before the change (contract: 10.1)."""
        rollout = self._rollout
        if rollout.position.stuck:
            marks.run_stuck(
                rollout.ledger, rollout.position.stage, rollout.position.stuck, workflow.now()
            )

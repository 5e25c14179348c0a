"""Decisions of people about the run: carrying them out, or refusing them in words.

Each is an object on the hub, about which the bridge sends a message; the answer is written to its
status.

policies: 2.3, 3
"""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import AnswerDecision, DecisionMade, ReadDecision
    from api.rollout_decisions import Decision, DecisionState
    from planning import signatures
    from planning.policies import decisions, texts
    from planning.policies.reporting import Setback
    from planning.runs import marks, phases, run_events
    from planning.runs.cluster_ends import ClusterEnd
    from workflows import calls
    from workflows.messages import Decide, Decided
    from workflows.rollout import Rollout


class Decisions:
    """Carries out what people decide about a run, each decision once."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._inbox: list[Decided] = []
        self._writing = False

    @property
    def is_clean(self) -> bool:
        """Whether every decision is answered on the hub."""
        return self._rollout.gone or not (self._inbox or self._writing)

    def take(self, message: Decided) -> None:
        """Accept a decision; one that was accepted before changes nothing."""
        if message.uid and message.uid not in self._rollout.decided:
            self._inbox.append(message)

    async def run(self) -> None:
        """Carry out or refuse decisions once the run is planned, and answer them."""
        rollout = self._rollout
        while True:
            await workflow.wait_condition(
                lambda: bool(self._inbox) and (rollout.planned or rollout.ledger.closed)
            )
            message = self._inbox.pop(0)
            self._writing = True
            await self._decide(message)
            self._writing = False

    async def _decide(self, message: Decided) -> None:
        if message.uid in self._rollout.decided:
            return
        request = ReadDecision(run=self._rollout.run, name=message.name, uid=message.uid)
        found = await calls.effect(stubs.READ_DECISION, request, summary=message.name)
        if found.made is None:
            fields = self._rollout.log_fields
            workflow.logger.warning("no decision %s on the hub", message.name, extra=fields)
            return
        # Not before it was found: a message with a wrong name must not hide the decision.
        self._rollout.decided.append(message.uid)
        await self._find_out(found.made)
        answer = self._answer(message, found.made)
        await calls.effect(stubs.ANSWER_DECISION, answer, summary=answer.name)

    # -- decisions that are made in Temporal alone -----------------------------------------

    def check(self, message: Decide) -> None:
        """Raise ValueError if a decision cannot be carried out, as far as is known now."""
        made = _made(message)
        # Whether a cluster that left is there again is not known before the hub is asked.
        if refused := decisions.incomplete(made.decision, made.reason) or self._refusal(
            made, away=False
        ):
            raise ValueError(refused)

    async def carry_out(self, message: Decide) -> str:
        """Carry out a decision that passed the check, and return the answer to it.

        Raises:
            ApplicationError: it cannot be carried out any more.
        """
        made = _made(message)
        await self._find_out(made)
        if refused := self._refusal(made):
            raise ApplicationError(refused)
        return self._carry_out(Decision(made.decision), made)

    # -- carrying out ----------------------------------------------------------------------

    async def _find_out(self, made: DecisionMade) -> None:
        """Look whether a cluster that left is there again, if it is to be handed out once more."""
        rollout = self._rollout
        if made.decision == Decision.RETRY_CLUSTER and rollout.membership.has_left(made.cluster):
            rollout.rechecks.request()
            await workflow.wait_condition(lambda: rollout.is_certain or rollout.ledger.closed)

    def _answer(self, message: Decided, made: DecisionMade) -> AnswerDecision:
        refused = self._refusal(made)
        return AnswerDecision(
            run=self._rollout.run,
            name=message.name,
            uid=message.uid,
            made=made,
            state=DecisionState.REFUSED if refused else DecisionState.COUNTED,
            message=refused or self._carry_out(Decision(made.decision), made),
            at=workflow.now(),
        )

    def _refusal(self, made: DecisionMade, *, away: bool = True) -> str | None:
        """Return why a decision is refused; without `away`, not because its cluster has left."""
        rollout = self._rollout
        if made.decision not in set(Decision):
            return decisions.NOT_SUPPORTED.fill(decision=made.decision)
        return decisions.refusal(
            Decision(made.decision),
            rollout.ledger.status,
            run=rollout.run.name,
            cluster=made.cluster,
            updating=rollout.position.updating,
            paused=rollout.budget.may_be_accepted,
            stuck=rollout.position.stuck,
            away=away and rollout.is_away(made.cluster),
        )

    def _carry_out(self, decision: Decision, made: DecisionMade) -> str:
        if decision is Decision.CONTINUE:
            return self._continue(made)
        if decision is Decision.SKIP_CLUSTER:
            return self._skip(made)
        return self._retry(made)

    def _continue(self, made: DecisionMade) -> str:
        rollout = self._rollout
        rollout.go_on()
        rollout.notices.note(
            run_events.continued(by=made.by, comment=made.reason, now=workflow.now())
        )
        if rollout.intent.may_run:
            marks.run_progressing(rollout.ledger, workflow.now())
        return decisions.CONTINUES.fill(run=rollout.run.name)

    def _skip(self, made: DecisionMade) -> str:
        rollout, cluster = self._rollout, made.cluster
        index, position = rollout.ledger.find(cluster)
        text = texts.skipped(by=made.by, comment=made.reason)
        marks.cluster_skipped(rollout.ledger, index, position, text, workflow.now())
        if cluster in rollout.position.in_flight:
            rollout.setbacks.give_up(cluster, ClusterEnd.SKIPPED)
        self._note(made, more_attempts=0)
        return decisions.CONTINUES_WITHOUT.fill(run=rollout.run.name, cluster=cluster)

    def _retry(self, made: DecisionMade) -> str:
        rollout, cluster = self._rollout, made.cluster
        index, position = rollout.ledger.find(cluster)
        entry = rollout.ledger.cluster(index, position)
        if cluster in rollout.position.in_flight:
            began = rollout.position.in_flight[cluster]
            attempt = rollout.setbacks.attempt(cluster, began=began)
            rollout.setbacks.try_again(cluster, attempt.again(now=workflow.now()))
            self._note(made, more_attempts=1)
            return decisions.NOW.fill(cluster=cluster)
        self._note(made, more_attempts=int(phases.started_at(entry) is not None))
        rollout.membership.forget(cluster)
        text = texts.retried(by=made.by, comment=made.reason)
        marks.cluster_retried(rollout.ledger, index, position, text, workflow.now())
        if index == rollout.position.updating:
            rollout.setbacks.retry(cluster)
            return decisions.NOW.fill(cluster=cluster)
        is_ahead = phases.is_ahead(rollout.ledger.stage(index))
        return (decisions.IN_ITS_STAGE if is_ahead else decisions.AT_THE_END).fill(cluster=cluster)

    def _note(self, made: DecisionMade, *, more_attempts: int) -> None:
        """Record for the report who decided about a cluster."""
        setbacks, cluster = self._rollout.setbacks, made.cluster
        before = setbacks.noted.get(cluster)
        setback = Setback(
            attempts=(before.attempts if before else 1) + more_attempts,
            since=workflow.now(),
            by=made.by,
            comment=made.reason,
        )
        setbacks.note(cluster, setback)


def _made(message: Decide) -> DecisionMade:
    """Return a decision that was made in Temporal alone, with who says that they made it."""
    return DecisionMade(
        decision=message.decision,
        cluster=message.cluster,
        reason=message.reason,
        by=signatures.of_temporal(message.by),
    )

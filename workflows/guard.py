"""Checking the run again when something that it depends on has changed.

contract: update-runs 9, decision 8
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import Survey
    from planning.errors import RunError, TransientState
    from planning.runs import restored, stages, validation
    from planning.runs.membership import Changes, is_fixed, rebound
    from planning.runs.validation import Checked
    from workflows import calls, membership
    from workflows.rollout import Rollout

SECOND_LOOK: Final = timedelta(seconds=1)
"""Pause before the second check. Other controllers change things in steps, and a fault that exists
only between two steps does not count."""
PATIENCE: Final = timedelta(seconds=5)
"""Pause before the next check of a change that others have not finished; the bridge usually
requests one earlier. Each check adds a few events to history, so the pauses grow."""
MOST_PATIENCE: Final = timedelta(minutes=5)
"""The longest pause."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look at the hub has found."""

    fault: RunError | None = None
    """Why the run cannot continue."""
    checked: Checked | None = None
    """Bindings and clusters; None if nothing has changed, or with a fault."""
    digest: str = ""
    news: Changes = field(default_factory=Changes)
    """Clusters that left or joined, as far as the run does not know of them yet."""
    overrides: membership.Overrides = field(default_factory=dict)
    """Overrides of those that joined."""


class Guard:
    """Ends the run when something that it depends on has changed permanently."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._patience = PATIENCE

    async def run(self) -> None:
        """Check whenever a recheck is requested, unless stopped; return when the run is gone.

        Raises:
            RunError: the run cannot continue.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(lambda: rollout.gone or self._is_due)
            if rollout.gone:
                return
            doubts = rollout.rechecks.requested
            found = await self._look_twice()
            if isinstance(found.fault, TransientState):
                await self._let_settle(doubts)
            elif found.fault is None:
                rollout.rechecks.have_passed(doubts)
                self._patience = PATIENCE
            elif rollout.is_checked:
                raise found.fault
            # Stopped between the two checks: the run is checked again when it is resumed.

    @property
    def _is_due(self) -> bool:
        rollout = self._rollout
        return rollout.planned and rollout.is_checked and not rollout.rechecks.all_passed

    async def _look_twice(self) -> _Found:
        """Look at the hub, a second time if a change needs it, and take in what is certain."""
        found = await self._look()
        if isinstance(found.fault, TransientState):
            return found
        if not (found.fault or found.news.any):
            self._take(found, Changes())
            return found
        await workflow.sleep(SECOND_LOOK, summary="second check of a change")
        again = await self._look()
        if again.fault is None:
            seen_twice = membership.confirmed(found.news, again.news)
            self._take(again, seen_twice if self._rollout.is_checked else Changes())
        return again

    async def _look(self) -> _Found:
        rollout, status = self._rollout, self._rollout.ledger.status
        keys = stages.deciding_labels(status.staged_update_strategy_snapshot)
        request = Survey(
            run=rollout.run,
            label_keys=keys,
            settled=False,
            content=rollout.snapshot,
            known=rollout.rechecks.digest,
        )
        surveyed = await calls.effect(stubs.SURVEY, request, summary="check")
        if surveyed.unchanged:
            return _Found()
        if surveyed.facts is None:
            rollout.lose_run()
            return _Found()
        in_flight = rollout.position.in_flight
        lost = restored.lost(surveyed.facts, begun=in_flight)
        if not is_fixed(rollout.rules):
            lost += rebound(surveyed.facts, status, begun=in_flight)
        rollout.rechecks.note(digest=rollout.rechecks.digest, lost=lost)
        try:
            restored.check(surveyed.facts, status=status)
            checked = validation.check(
                surveyed.facts, run=rollout.run, status=status, rules=rollout.rules
            )
            news = membership.news(rollout, checked.changes)
            overrides = await membership.overrides_of(rollout, news.joined)
        except RunError as error:
            return _Found(fault=error)
        return _Found(checked=checked, digest=surveyed.facts.digest, news=news, overrides=overrides)

    def _take(self, found: _Found, certain: Changes) -> None:
        """Act on a look that found no fault, and on those of the changes that are certain."""
        rollout = self._rollout
        if found.checked is None:
            return
        membership.apply(rollout, found.checked, certain, found.overrides)
        if certain != found.news:
            # One look has seen the others so far.
            rollout.rechecks.request()
            return
        # After a fault everything is checked again. With clusters in flight the facts keep
        # changing, so their digest is of no use.
        digest = "" if rollout.position.in_flight else found.digest
        rollout.rechecks.note(digest=digest, lost=rollout.rechecks.lost)

    async def _let_settle(self, doubts: int) -> None:
        """Give others time to finish their change; until then nothing new starts."""
        rollout, patience = self._rollout, self._patience
        self._patience = min(2 * patience, MOST_PATIENCE)
        try:
            await workflow.wait_condition(
                lambda: rollout.rechecks.requested != doubts,
                timeout=patience,
                timeout_summary="wait for others to finish a change",
            )
        except TimeoutError:
            return

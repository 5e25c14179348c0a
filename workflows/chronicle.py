"""Kubernetes events on the run's object, which tell people what happens to the run.

contract: decision 13
"""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import RecordEvents
    from api.rollout_reports import ClusterReport
    from planning import events
    from planning.events import Event
    from planning.policies import reporting
    from planning.runs import run_events
    from planning.runs.run_events import EventState
    from workflows.rollout import Rollout

SHORT: Final = timedelta(seconds=5)
"""Enough for some small writes; if they take longer, the hub or the worker is unreachable."""
SOME_TRIES: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_attempts=5)
"""Retries for some seconds only, because the end of a run waits for its last events."""


class Chronicle:
    """Notes events as they happen, and writes them a few at a time.

    The rollout waits for it only at its end, and then no longer than `SOME_TRIES` takes.
    """

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._set_back: list[ClusterReport] = []
        self._setbacks = -1
        """Number of changes of setbacks after which that was read."""
        self._known = self._situation()
        self._changes = rollout.ledger.changes
        self._noted: list[Event] = []
        self._writing = False

    async def run(self) -> None:
        """Note and write, until cancelled."""
        await asyncio.gather(self._note(), self._write())

    @property
    def is_clean(self) -> bool:
        """Whether everything is written or dropped."""
        return not (self._writing or self._noted or self._is_behind())

    async def _note(self) -> None:
        """Note each change, even during a write: a state may be short-lived."""
        rollout = self._rollout
        while True:
            await workflow.wait_condition(self._is_behind)
            before, self._known = rollout.notices.take_reported() or self._known, self._situation()
            self._changes = rollout.ledger.changes
            # Events from gates come first: they explain why the status changed.
            news = rollout.notices.take()
            self._noted += events.spaced(
                news
                + run_events.since(
                    before,
                    self._known,
                    status=rollout.ledger.status,
                    run=rollout.run,
                    now=workflow.now(),
                )
            )

    async def _write(self) -> None:
        while True:
            await workflow.wait_condition(lambda: bool(self._noted))
            noted, self._noted = self._noted, []
            self._writing = True
            # Events noted meanwhile go out together afterwards.
            await self._record(noted)
            self._writing = False

    async def _record(self, noted: list[Event]) -> None:
        reasons = ", ".join(event.reason for event in noted)
        try:
            await workflow.execute_activity(
                stubs.RECORD_EVENTS.name,
                RecordEvents(run=self._rollout.run, events=noted),
                start_to_close_timeout=SHORT,
                retry_policy=SOME_TRIES,
                summary=f"events: {reasons}",
            )
        except FailureError as error:
            if is_cancelled_exception(error):
                raise
            fields = self._rollout.log_fields
            workflow.logger.warning("events dropped: %s (%s)", reasons, error, extra=fields)

    def _is_behind(self) -> bool:
        rollout, known = self._rollout, self._known
        moved = rollout.ledger.changes != self._changes or rollout.intent.state != known.desired
        retried = bool(rollout.setbacks.noted) and rollout.setbacks.changes != self._setbacks
        return moved or retried or bool(rollout.notices.pending_events)

    def _situation(self) -> EventState:
        rollout = self._rollout
        return run_events.situation(
            rollout.ledger.status,
            desired=rollout.intent.state,
            asked=rollout.intent.asked,
            set_back=self._read_setbacks(),
        )

    def _read_setbacks(self) -> list[ClusterReport]:
        """Return what happened to clusters; it takes time, so only where that has changed."""
        rollout, setbacks = self._rollout, self._rollout.setbacks
        if setbacks.noted and self._setbacks != setbacks.changes:
            self._setbacks = setbacks.changes
            self._set_back = reporting.set_back(rollout.ledger.status, setbacks=setbacks.noted)
        return self._set_back

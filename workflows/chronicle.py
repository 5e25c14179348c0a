"""Telling people what becomes of a run, by Kubernetes events on its object.

contract: decision 13
"""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.requests import RecordEvents
    from planning import events
    from planning.events import Event
    from planning.runs import run_events
    from planning.runs.run_events import Situation
    from workflows.rollout import Rollout

SHORT: Final = timedelta(seconds=5)
"""Some small writes; longer means that the hub or the worker is away."""
SOME_TRIES: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_attempts=5)
"""Over some seconds: the end of a run waits for its last events, so not for ever."""


class Chronicle:
    """Notes what happens as it happens, and has it written a few events at a time.

    The rollout never waits for it but at its end, and there only as long as `SOME_TRIES` take.
    """

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
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
        """Look at each change, also while a write is under way: states may be short."""
        rollout = self._rollout
        while True:
            await workflow.wait_condition(self._is_behind)
            before, self._known = rollout.before or self._known, self._situation()
            rollout.before = None
            self._changes = rollout.ledger.changes
            # What gates told goes first: it is why the status changed.
            told, rollout.told = rollout.told, []
            self._noted += events.spaced(
                told
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
            # Meanwhile more is noted, which goes out together afterwards.
            await self._record(noted)
            self._writing = False

    async def _record(self, noted: list[Event]) -> None:
        reasons = ", ".join(event.reason for event in noted)
        try:
            await workflow.execute_activity(
                "record_events",
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
        rollout = self._rollout
        moved = rollout.ledger.changes != self._changes or rollout.desired != self._known.desired
        return moved or bool(rollout.told)

    def _situation(self) -> Situation:
        rollout = self._rollout
        return run_events.situation(
            rollout.ledger.status, desired=rollout.desired, asked=rollout.asked
        )

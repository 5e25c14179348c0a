"""Keeping the run object on the hub in step with the workflow's ledger.

One write at a time; what changes meanwhile goes out together in the next (design D2).
"""

from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.requests import StatusWritten, WriteStatus
    from planning.runs.ledger import Patch
    from workflows import calls
    from workflows.rollout import Rollout

WHOLE: Final = timedelta(seconds=8)
"""A local activity holds up signals while it runs, so it may only be short; but this is half a
megabyte for a thousand clusters."""
RETRY_ONCE: Final = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=2)
"""The pause between two tries is short too; Temporal has it last a second by default."""

RECORDED: Final = timedelta(milliseconds=1)
"""Any time at all: it ends the step that decided, and Temporal has it when the next begins."""


class Mirror:
    """The only writer of the run's status."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._writing = False

    async def run(self) -> None:
        """Write whatever is dirty, until cancelled or until the run does not exist any more."""
        ledger = self._rollout.ledger
        while not self._rollout.gone:
            await workflow.wait_condition(lambda: ledger.dirty)
            self._writing = True
            await self._write(ledger.take_patch())
            self._writing = False

    @property
    def is_clean(self) -> bool:
        """Whether the hub has everything."""
        return self._rollout.gone or not (self._writing or self._rollout.ledger.dirty)

    async def _write(self, patch: Patch) -> None:
        known = self._rollout.specs.count
        written = await self._send(patch)
        if written.generation:
            self._rollout.compare_specs(written.generation, count=known)
        self._rollout.gone = written.gone
        self._rollout.resource_version = written.resource_version
        if not written.resource_version:
            # Somebody else changed the object: a person's new state, or a meddled status.
            self._rollout.ledger.touch("")

    async def _send(self, patch: Patch) -> StatusWritten:
        run, ledger = self._rollout.run, self._rollout.ledger
        if patch[0]["path"] == "/status":
            return await self._send_whole(WriteStatus(run=run, patch=patch))
        # Without a rest while there is more than one write takes.
        version, rest = self._rollout.resource_version, not ledger.dirty
        request = WriteStatus(run=run, patch=patch, resource_version=version, rest=rest)
        # Clusters begin and end meanwhile; with a local activity none could.
        return await calls.status_write(request, StatusWritten)

    async def _send_whole(self, request: WriteStatus) -> StatusWritten:
        """Rare, and too large for history, in which a local activity leaves only its answer."""
        # A step that is lost with its worker is done again, later: people must not have seen what
        # it decided.
        await workflow.sleep(RECORDED, summary="until this is recorded")
        try:
            written: StatusWritten = await workflow.execute_local_activity(
                "write_status",
                request,
                result_type=StatusWritten,
                start_to_close_timeout=WHOLE,
                retry_policy=RETRY_ONCE,
            )
        except FailureError as error:
            if is_cancelled_exception(error):
                raise
            # The hub is away or slow: a normal activity is repeated without holding up signals.
            return await calls.status_write(request, StatusWritten)
        return written

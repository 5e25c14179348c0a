"""Writing the workflow's ledger to the status of the run on the hub.

There is one write at a time; changes made meanwhile go out together in the next one (decision
record 0002).
"""

from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import StatusWritten, WriteStatus
    from planning.runs.ledger import Patch
    from workflows import calls
    from workflows.rollout import Rollout

WHOLE: Final = timedelta(seconds=8)
"""Time limit for writing the whole status. A local activity delays signals while it runs, so it has
to be short; but this one writes half a megabyte for a thousand clusters."""
RETRY_ONCE: Final = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=2)
"""The pause before the retry is short too; Temporal's default is a second."""

RECORDED: Final = timedelta(milliseconds=1)
"""Any duration works: a timer ends the workflow task, so Temporal has recorded its decisions before
the next one begins."""


class StatusMirror:
    """The only writer of a run's status."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._writing = False

    async def run(self) -> None:
        """Write what is dirty, until cancelled or until the run no longer exists."""
        ledger = self._rollout.ledger
        while not self._rollout.gone:
            await workflow.wait_condition(lambda: ledger.dirty)
            self._writing = True
            await self._write(ledger.take_patch())
            self._writing = False

    @property
    def is_clean(self) -> bool:
        """Whether the hub has the complete status, or the run no longer exists."""
        return self._rollout.gone or not (self._writing or self._rollout.ledger.dirty)

    async def _write(self, patch: Patch) -> None:
        known = self._rollout.intent.specs.count
        written = await self._send(patch)
        if written.generation:
            self._rollout.compare_specs(written.generation, count=known)
        self._rollout.note_written(written.resource_version, gone=written.gone)
        if not written.resource_version:
            # Someone else changed the object: a person set a new state or edited the status.
            self._rollout.ledger.touch("")

    async def _send(self, patch: Patch) -> StatusWritten:
        run, ledger = self._rollout.run, self._rollout.ledger
        if patch[0]["path"] == "/status":
            return await self._send_whole(WriteStatus(run=run, patch=patch))
        # No rest after this write if there is more to write than fits into it.
        version, rest = self._rollout.resource_version, not ledger.dirty
        request = WriteStatus(run=run, patch=patch, resource_version=version, rest=rest)
        # Clusters start and end meanwhile, which a local activity would prevent.
        return await calls.status_write(request)

    async def _send_whole(self, request: WriteStatus) -> StatusWritten:
        """Write the whole status by a local activity, which records only its result in history.

        Whole writes are rare, and too large for history.
        """
        # A workflow task that is lost with its worker is run again later and may decide
        # differently, so its decisions must not be visible before they are recorded.
        await workflow.sleep(RECORDED, summary="record the decisions")
        try:
            written: StatusWritten = await workflow.execute_local_activity(
                stubs.WRITE_STATUS.name,
                request,
                result_type=stubs.WRITE_STATUS.answers,
                start_to_close_timeout=WHOLE,
                retry_policy=RETRY_ONCE,
            )
        except FailureError as error:
            if is_cancelled_exception(error):
                raise
            # The hub is unreachable or slow: a normal activity is retried without delaying signals.
            return await calls.status_write(request)
        return written

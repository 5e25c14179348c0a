"""Keeping the run's RolloutReport up to date, if a rollout policy applies or a person has decided.

policies: 2.2
"""

from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import WriteReport
    from api.rollout_reports import RolloutReportStatus
    from planning.policies import reporting
    from planning.runs import phases
    from workflows.rollout import Rollout

SHORT: Final = timedelta(seconds=10)
"""Enough for two writes."""
SOME_TRIES: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_attempts=6)
"""Retries for some seconds only, because the end of a run waits for its report."""


class ReportWriter:
    """The only writer of a run's report."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._known: object = None
        self._written: RolloutReportStatus | None = None
        self._writing = False

    async def run(self) -> None:
        """Write the report when it changes, until cancelled."""
        while True:
            await workflow.wait_condition(self._is_behind)
            self._known = self._state()
            report = self._report()
            if report == self._written:
                continue
            self._writing = True
            await self._write(report)
            self._writing = False

    @property
    def is_clean(self) -> bool:
        """Whether the report is written, or could not be."""
        return self._rollout.gone or not (self._writing or self._is_behind())

    def _is_behind(self) -> bool:
        rollout = self._rollout
        noted = rollout.setbacks.noted or rollout.membership.moves or rollout.turn.place
        wanted = rollout.rules.fields or noted
        return bool(rollout.planned and wanted and self._known != self._state())

    def _state(self) -> object:
        """Return what tells whether the report may have changed; cheap, as it is asked often."""
        rollout = self._rollout
        return (
            rollout.setbacks.changes,
            rollout.membership.changes,
            rollout.position.stuck,
            rollout.position.stage,
            rollout.turn.place,
            rollout.budget.accepted,
            phases.phase(rollout.ledger.status),
            len(rollout.approvals.pending),
            rollout.ledger.closed,
        )

    def _report(self) -> RolloutReportStatus:
        rollout, status = self._rollout, self._rollout.ledger.status
        return reporting.report(
            status,
            rollout.rules,
            setbacks=rollout.setbacks.noted,
            accepted=rollout.budget.accepted,
            undone=rollout.undone,
            stuck=frozenset(rollout.position.stuck),
            moves=rollout.membership.moves,
            queue=None if rollout.ledger.closed else rollout.turn.place,
            cluster_takes=rollout.cluster_takes,
            now=workflow.now(),
        )

    async def _write(self, report: RolloutReportStatus) -> None:
        rollout = self._rollout
        try:
            await workflow.execute_activity(
                stubs.WRITE_REPORT.name,
                WriteReport(run=rollout.run, placement=rollout.placement, report=report),
                start_to_close_timeout=SHORT,
                retry_policy=SOME_TRIES,
                summary="report",
            )
        except FailureError as error:
            if is_cancelled_exception(error):
                raise
            fields = rollout.log_fields
            workflow.logger.warning("report not written: %s", error, extra=fields)
        else:
            self._written = report

"""Log fields that say which run, stage and cluster each log line of an activity is about."""

from typing import Any, Final

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from planning.identity import RunRef
from telemetry import log_about

_LOGGED: Final = ("stage", "cluster")
"""Fields of requests that become log fields."""


class LogFields(Interceptor):
    """Takes the log fields from the requests of activities."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - Temporal's name
        """Return the interceptor in front of an activity."""
        return _LogFields(next)


class _LogFields(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - as Temporal has it
        # Not reset afterwards: what Temporal logs when the activity ends needs the same fields.
        log_about(activity=activity.info().activity_type)
        for request in input.args:
            log_about(**_fields(request))
        return await self.next.execute_activity(input)


def _fields(request: object) -> dict[str, str]:
    run = getattr(request, "run", None)
    if not isinstance(run, RunRef):
        return {}
    named = {name: getattr(request, name, "") for name in _LOGGED}
    return run.log_fields | named

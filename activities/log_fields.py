"""Lets every line that an activity logs say which run, stage and cluster it is about."""

from typing import Any, Final

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from planning.identity import RunRef
from telemetry import log_about

_TOLD: Final = ("stage", "cluster")
"""Fields of requests under which they name them."""


class LogFields(Interceptor):
    """Reads the fields off what the workflow asks for."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - Temporal's name
        """Stand in front of an activity."""
        return _Told(next)


class _Told(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - as Temporal has it
        # Not taken back: what Temporal logs of the activity's end is about the same.
        log_about(activity=activity.info().activity_type)
        for request in input.args:
            log_about(**_fields(request))
        return await self.next.execute_activity(input)


def _fields(request: object) -> dict[str, str]:
    run = getattr(request, "run", None)
    if not isinstance(run, RunRef):
        return {}
    told = {name: getattr(request, name, "") for name in _TOLD}
    return run.log_fields | told

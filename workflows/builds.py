"""Which build of the worker continues a run.

With the setting that upgrades between stages, Temporal keeps each execution of a workflow on the
build that started it, and reports when another build has become current; the run then continues on
that build, in a new execution. Otherwise Temporal never reports this.
"""

from temporalio import workflow
from temporalio.workflow import ContinueAsNewVersioningBehavior


def newer_is_current() -> bool:
    """Return whether this execution is pinned to a build that is no longer the current one."""
    return workflow.info().is_target_worker_deployment_version_changed()


def of_next_execution() -> ContinueAsNewVersioningBehavior | None:
    """Return how the next execution gets its build; None keeps the present one."""
    return ContinueAsNewVersioningBehavior.AUTO_UPGRADE if newer_is_current() else None

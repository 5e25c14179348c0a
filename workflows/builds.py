"""Which build of the worker goes on with a run.

Where the worker is told to upgrade between stages, Temporal keeps each execution of a workflow
with the build that began it, and says when another build has become current; the run then goes on
in a new execution, with that one. Everywhere else Temporal never says so.
"""

from temporalio import workflow
from temporalio.workflow import ContinueAsNewVersioningBehavior


def newer_is_current() -> bool:
    """Whether this execution is kept with a build that is not the current one any more."""
    return workflow.info().is_target_worker_deployment_version_changed()


def of_next_execution() -> ContinueAsNewVersioningBehavior | None:
    """How the next execution finds its build; without a newer one it stays where it is."""
    return ContinueAsNewVersioningBehavior.AUTO_UPGRADE if newer_is_current() else None

"""The group `fleetgate run`."""

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "list": ("starter.run.listing:list_runs", "List update runs and what they are doing."),
    "show": ("starter.run.showing:show", "Show a run: stages, clusters, gates."),
    "explain": (
        "starter.explain.command:explain",
        "Explain why a run waits or fails, who must act, what is next.",
    ),
    "create": ("starter.run.creating:create", "Create a run for a placement and a strategy."),
    "start": ("starter.run.steering:start", "Start a planned run, or resume a stopped one."),
    "stop": ("starter.run.steering:stop", "Stop a run; clusters in flight finish."),
    "watch": ("starter.run.watching:watch", "Follow a run until it ends."),
    "history": ("starter.history.command:history", "Show who did what to a run, and when."),
    "delete": ("starter.run.deleting:delete", "Delete runs; what they rolled out stays."),
}


@click.group(name="run", cls=LazyGroup, commands_at=COMMANDS)
def run() -> None:
    """Manage update runs: staged rollouts of a placement's snapshot.

    Without -n, commands work on ClusterStagedUpdateRuns, with -n on the StagedUpdateRuns of that
    namespace.
    """

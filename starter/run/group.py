"""The group `fleetgate run`."""

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "list": ("starter.run.listing:list_runs", "All update runs and where they are."),
    "show": ("starter.run.showing:show", "One run on one screen: stages, clusters, gates."),
    "explain": (
        "starter.explain.command:explain",
        "Why a run is where it is, who must act, what happens next.",
    ),
    "create": ("starter.run.creating:create", "Make a run of a placement with a strategy."),
    "start": ("starter.run.steering:start", "Start a planned run, or go on with a stopped one."),
    "stop": ("starter.run.steering:stop", "Stop a run; clusters in flight finish."),
    "watch": ("starter.run.watching:watch", "Follow a run until it ends."),
    "history": ("starter.history.command:history", "Who did what with a run, and when."),
    "delete": ("starter.run.deleting:delete", "Delete runs; what they rolled out stays."),
}


@click.group(name="run", cls=LazyGroup, commands_at=COMMANDS)
def run() -> None:
    """Update runs: rollouts of one version of a placement, stage by stage.

    Without -n a command is about a ClusterStagedUpdateRun, with -n about the StagedUpdateRun of
    that namespace.
    """

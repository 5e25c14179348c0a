"""Groups of commands, which import a command only when it is used, so that `--help` is fast."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click
from click.shell_completion import CompletionItem

from starter import flags


class HelpfulGroup(click.Group):
    """A group that shows its help on stdout, with exit code 0, if no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help if nothing is typed after the name of the group."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


class LazyGroup(HelpfulGroup):
    """A group that knows the module and one-line help of each command, and imports it on use.

    `commands_at` maps a name to (`module:attribute`, one-line help). `meant` maps a word of other
    tools to a command of this group, which runs instead, or with a space in it, to suggest.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        commands_at: Mapping[str, tuple[str, str]],
        meant: Mapping[str, str] = MappingProxyType({}),
        **attributes: Any,  # noqa: ANN401 - whatever click.Group takes
    ) -> None:
        super().__init__(name, **attributes)
        # Shown for `fleetgate` only, because all groups understand them.
        self.params += flags.of_group(shown=name == "fleetgate")
        self._commands_at = commands_at
        self._meant = meant

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were given."""
        return list(self._commands_at)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; `get NAME` means to show one object, `get` to list them."""
        one = args[0] == "get" and any(not each.startswith("-") for each in args[1:2])
        name = "show" if one and "show" in self._commands_at else args[0]
        return super().resolve_command(ctx, [name, *args[1:]])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; return None if there is no command with this name."""
        meant = self._meant.get(cmd_name, cmd_name)
        if meant not in self._commands_at:
            self._suggest(ctx, cmd_name)
            return None
        module, _, attribute = self._commands_at[meant][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def _suggest(self, ctx: click.Context, typed: str) -> None:
        """Raise UsageError with a suggestion if it is known what is meant."""
        similar = get_close_matches(typed, self._commands_at, n=1)
        meant = self._meant.get(typed) or next(iter(similar), "")
        # With a prefix such as `un`, a word is the opposite of the command that it ends with.
        if meant and not typed.endswith(meant) and not ctx.resilient_parsing:
            raise click.UsageError(f"unknown command {typed!r}; did you mean {meant!r}?", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete commands from the known names, without importing them."""
        commands = [
            CompletionItem(name, help=text)
            for name, (_, text) in self._commands_at.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their known help, without importing them."""
        rows = [(name, text) for name, (_, text) in self._commands_at.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


# -- fleetgate run -------------------------------------------------------------------------


OF_RUN = {
    "list": ("starter.run.showing:list_runs", "List update runs and what they are doing."),
    "show": ("starter.run.showing:show", "Show a run: stages, clusters, gates."),
    "explain": (
        "starter.explain.command:explain",
        "Explain why a run waits or fails, who must act, what is next.",
    ),
    "create": ("starter.run.creating:create", "Create a run for a placement and a strategy."),
    "start": ("starter.run.steering:start", "Start a planned run, or resume a stopped one."),
    "stop": ("starter.run.steering:stop", "Stop a run; clusters in flight finish."),
    "skip": ("starter.run.deciding:skip", "Let a run continue without clusters."),
    "retry": ("starter.run.deciding:retry", "Hand failed, skipped or stuck clusters out again."),
    "watch": ("starter.run.watching:watch", "Follow a run until it ends."),
    "history": ("starter.history.command:history", "Show who did what to a run, and when."),
    "delete": ("starter.run.steering:delete", "Delete runs; what they rolled out stays."),
}


MEANT_OF_OBJECTS = {"get": "list", "ls": "list", "describe": "show", "status": "show"}
"""kubectl's words for what every group with `list` and `show` does."""
MEANT_OF_RUN = MEANT_OF_OBJECTS | {"pause": "stop", "abort": "stop", "resume": "start"}


@click.group(name="run", cls=LazyGroup, commands_at=OF_RUN, meant=MEANT_OF_RUN)
def run() -> None:
    """Manage update runs: staged rollouts of a placement's snapshot.

    Without -n, commands work on ClusterStagedUpdateRuns, with -n on the StagedUpdateRuns of that
    namespace.
    """


# -- fleetgate snapshot --------------------------------------------------------------------


OF_SNAPSHOT = {
    "list": (
        "starter.snapshot.showing:list_snapshots",
        "List the snapshots of a placement's content.",
    ),
    "show": ("starter.snapshot.showing:show", "Show what a snapshot contains, and where it is."),
    "diff": ("starter.snapshot.diffing:diff", "Show what changed between two snapshots."),
}


@click.group(name="snapshot", cls=LazyGroup, commands_at=OF_SNAPSHOT, meant=MEANT_OF_OBJECTS)
def snapshot() -> None:
    """List, show and compare the snapshots of a placement's content, which runs roll out.

    Without -n, commands work on a ClusterResourcePlacement, with -n on a ResourcePlacement of that
    namespace.
    """


# -- fleetgate policy ----------------------------------------------------------------------


OF_POLICY = {
    "list": ("starter.policy:list_policies", "List rollout policies."),
    "show": ("starter.policy:show", "Show the rules for runs of a strategy or placement."),
}


@click.group(name="policy", cls=LazyGroup, commands_at=OF_POLICY, meant=MEANT_OF_OBJECTS)
def policy() -> None:
    """Show the rollout policies: time limits, failure budgets and other rules for runs.

    Without -n, commands work on ClusterRolloutPolicies, with -n on the RolloutPolicies of that
    namespace.
    """


# -- fleetgate member ----------------------------------------------------------------------


OF_MEMBER = {
    "list": ("starter.member.showing:list_members", "List members and when each last reported."),
    "show": ("starter.member.showing:show", "Show a member: state, agent, labels, taints."),
    "join": ("starter.member.joining:join", "Join a cluster to the fleet."),
    "leave": ("starter.member.leaving:leave", "Remove a member from the fleet."),
}


@click.group(name="member", cls=LazyGroup, commands_at=OF_MEMBER)
def member() -> None:
    """Manage the members of the fleet: the clusters that placements and stages select.

    `join` and `leave` work on two clusters: --context names the member, --hub-context the hub.
    """


# -- fleetgate temporal --------------------------------------------------------------------


OF_TEMPORAL = {
    "setup": (
        "starter.operating.setup:setup",
        "Set up the Temporal namespace for runs.",
    ),
    "set-current": (
        "starter.operating.current_build:set_current",
        "Make one build of the workers take over all runs.",
    ),
    "codec-server": (
        "starter.operating.codec_server:codec_server",
        "Decrypt payloads for the Temporal UI.",
    ),
}


@click.group(name="temporal", cls=LazyGroup, commands_at=OF_TEMPORAL)
def temporal() -> None:
    """Set up and operate Temporal for fleetgate.

    The connection is configured with Temporal's own settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
    TEMPORAL_API_KEY, TEMPORAL_TLS, TEMPORAL_PROFILE and so on.
    """


# -- fleetgate itself ----------------------------------------------------------------------


MEANT = {
    **{word: f"run {command}" for word, command in MEANT_OF_RUN.items()},
    **{command: f"run {command}" for command in OF_RUN},
}
"""Commands of `fleetgate run` that are typed without `run`."""

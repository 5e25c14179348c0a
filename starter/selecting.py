"""Options for what may be placed from the hub, for commands that select content like a run does."""

from collections.abc import Callable
from functools import update_wrapper

import click

from planning.placements.selecting import SelectionRules


def rules_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the worker's options for what may be placed to a command, which gets them as `rules`."""

    def with_rules(
        *args: object, skipped_namespaces: str, hub_runs_workloads: bool, **rest: object
    ) -> object:
        skipped = frozenset(filter(None, map(str.strip, skipped_namespaces.split(","))))
        return command(*args, rules=SelectionRules(skipped, hub_runs_workloads), **rest)

    options = (
        click.option(
            "--skipped-namespaces",
            metavar="NAMESPACE,…",
            envvar="FLEETGATE_SKIPPED_NAMESPACES",
            default="",
            help="Same value as for the workers  [FLEETGATE_SKIPPED_NAMESPACES; default: none].",
        ),
        click.option(
            "--hub-runs-workloads",
            is_flag=True,
            envvar="FLEETGATE_HUB_RUNS_WORKLOADS",
            help="Same value as for the workers  [FLEETGATE_HUB_RUNS_WORKLOADS; default: no].",
        ),
    )
    wrapped = update_wrapper(with_rules, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped

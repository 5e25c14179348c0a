"""Options that commands share: hub, namespace, output, what may be placed, and confirmation."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from pathlib import Path

import click

from planning.placements.selecting import SelectionRules
from starter.completion import live
from starter.failures import CommandFailure, ExitCode
from starter.targets import Output, Target, found

_FILE = click.Path(path_type=Path, dir_okay=False)
_kubeconfig_option = click.option(
    "--kubeconfig",
    type=_FILE,
    help="Kubeconfig for the hub  [default: $KUBECONFIG, else the local fleet's].",
)


def _found(kubeconfig: Path | None, context: str | None, namespace: str = "") -> Target:
    target = found(kubeconfig, context, namespace)
    if target.kubeconfig != kubeconfig:
        text = f"using the local fleet: {target.kubeconfig} (use another hub with --kubeconfig)"
        click.echo(text, err=True)
    return target


def target_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options that all commands share to a command, which gets them as `target`."""

    def with_target(
        *args: object,
        kubeconfig: Path | None,
        context: str | None,
        namespace: str,
        output: str = Output.TABLE,
        **rest: object,
    ) -> object:
        target = replace(_found(kubeconfig, context, namespace), output=Output(output))
        return command(*args, target=target, **rest)

    options = (
        _kubeconfig_option,
        click.option("--context", shell_complete=live.contexts, help="Context of the kubeconfig."),
        click.option(
            "-n",
            "--namespace",
            default="",
            shell_complete=live.namespaces,
            help="Namespace to work in; without it, the cluster-scoped kinds are used.",
        ),
    )
    wrapped = update_wrapper(with_target, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def member_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options that name the hub and a member cluster.

    The command gets the hub as `target` and the cluster as `member`, None if neither a context nor
    a kubeconfig is given for it.
    """

    def with_both(
        *args: object,
        kubeconfig: Path | None,
        context: str | None,
        member_kubeconfig: Path | None,
        member_context: str | None,
        **rest: object,
    ) -> object:
        target = _found(kubeconfig, context)
        member = replace(
            target, kubeconfig=member_kubeconfig or target.kubeconfig, context=member_context
        )
        given = member_kubeconfig or member_context
        return command(*args, target=target, member=member if given else None, **rest)

    options = (
        click.option(
            "--context",
            "member_context",
            shell_complete=live.member_contexts,
            help="Context of the member cluster.",
        ),
        click.option(
            "--member-kubeconfig",
            type=_FILE,
            help="Kubeconfig for the member cluster  [default: same as for the hub].",
        ),
        _kubeconfig_option,
        click.option(
            "--hub-context",
            "context",
            shell_complete=live.contexts,
            help="Context of the hub  [default: the current context].",
        ),
    )
    wrapped = update_wrapper(with_both, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


output_option = click.option(
    "-o",
    "--output",
    type=click.Choice([str(each) for each in Output]),
    default=str(Output.TABLE),
    show_default=True,
    help="Output format.",
)


# -- what may be placed --------------------------------------------------------------------


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


# -- confirmation --------------------------------------------------------------------------


yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")


def confirm(question: str, *, yes: bool) -> None:
    """Return if the person agrees; raise CommandFailure if not, or if there is no terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailure(
            f"{question} Cannot ask without a terminal",
            advice="add --yes to confirm; nothing was changed",
            exit_code=ExitCode.USAGE,
        )
    if not click.confirm(question, err=True):
        raise CommandFailure("cancelled; nothing was changed")

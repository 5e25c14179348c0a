"""Options that commands share: the hub, its namespace, and the output format."""

from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from pathlib import Path

import click

from starter.completion import live
from starter.targets import Output, found


def _say_which(kubeconfig: Path | None) -> None:
    text = f"using the local fleet: {kubeconfig} (use another hub with --kubeconfig)"
    click.echo(text, err=True)


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
        target = replace(found(kubeconfig, context, namespace), output=Output(output))
        if target.kubeconfig != kubeconfig:
            _say_which(target.kubeconfig)
        return command(*args, target=target, **rest)

    options = (
        click.option(
            "--kubeconfig",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Kubeconfig for the hub  [default: $KUBECONFIG, else the local fleet's].",
        ),
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


output_option = click.option(
    "-o",
    "--output",
    type=click.Choice([str(each) for each in Output]),
    default=str(Output.TABLE),
    show_default=True,
    help="Output format.",
)

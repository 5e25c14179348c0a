"""`fleetgate completion`."""

import click
from click.shell_completion import get_completion_class

from starter.helping import examples

SHELLS = ("bash", "zsh", "fish", "powershell")
VARIABLE = "_FLEETGATE_COMPLETE"
"""Environment variable that tells click that the shell asks for completions."""


@click.command(
    epilog=examples(
        "fleetgate completion bash > ~/.local/share/bash-completion/completions/fleetgate",
        "fleetgate completion zsh > ~/.zfunc/_fleetgate",
        "fleetgate completion fish > ~/.config/fish/completions/fleetgate.fish",
        "fleetgate completion powershell >> $PROFILE",
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for a shell.

    It completes commands, options and names on the hub: runs, stages, placements, strategies,
    snapshots, members, namespaces and contexts. To load it into the current shell:
    source <(fleetgate completion bash).

    For `kubectl fleetgate …`, kubectl's own completion is enough: kubectl 1.26 or newer finds
    kubectl_complete-fleetgate, which is installed with fleetgate, on the PATH.
    """
    made = get_completion_class(shell)
    assert made is not None, "click supports all of these shells"
    root = context.find_root().command
    click.echo(made(root, {}, "fleetgate", VARIABLE).source())

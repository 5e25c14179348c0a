"""`fleetgate completion`."""

import click
from click.shell_completion import get_completion_class

from starter.helping import examples

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_FLEETGATE_COMPLETE"
"""The variable by which click knows that a shell asks, not a person."""


@click.command(
    epilog=examples(
        "fleetgate completion bash > ~/.local/share/bash-completion/completions/fleetgate",
        "fleetgate completion zsh > ~/.zfunc/_fleetgate",
        "fleetgate completion fish > ~/.config/fish/completions/fleetgate.fish",
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that makes a shell complete `fleetgate …`.

    Commands, options, and names that are on the hub: runs, stages, placements, strategies,
    snapshots, namespaces, contexts. For one session: source <(fleetgate completion bash).

    `kubectl fleetgate …` needs no more than kubectl's own completion: kubectl 1.26 or newer finds
    kubectl_complete-fleetgate, which is installed with fleetgate, on the PATH.
    """
    made = get_completion_class(shell)
    assert made is not None, "click knows the shells that are offered"
    root = context.find_root().command
    click.echo(made(root, {}, "fleetgate", VARIABLE).source())

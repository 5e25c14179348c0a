"""The command `fleetgate demo`."""

import click


@click.command
def demo() -> None:
    """Roll a change through a local fleet, step by step.

    Starts the fleet of the current folder like `fleetgate local up`, then types the commands of the
    tutorial and checks on the hub and the members that each of them worked. The fleet stays up.
    """
    from starter.demo import (
        performing,  # here, because its help must not wait for Temporal's client
    )

    performing.perform()

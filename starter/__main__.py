"""Entry point of `python -m starter`, which is `fleetgate`."""

from starter.cli import main

main()

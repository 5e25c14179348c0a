"""`python -m starter` is `fleetgate`."""

from starter.cli import main

main()

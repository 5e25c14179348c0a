"""`python -m tests.soak`: run a fault campaign and print the results; exit 1 on a violation."""

import argparse
import asyncio
import logging
import secrets
import shutil
import signal
import sys
from pathlib import Path

from deploy.local.state import ETCD, TEMPORAL
from tests.soak.campaign import Plan, carry_out
from tests.soak.fleet import Shape
from tests.soak.report import show
from tests.support.servers import Servers

ROLES = {
    f"{part}-{number}": part
    for part in ("engine", "bridge", "placement", "agents")
    for number in (1, 2)
}
"""Fleetgate's processes: each role twice."""


def main() -> None:
    """Read the arguments, carry out the plan, print the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--minutes", type=float, default=60, help="no run starts after this time")
    parser.add_argument("--lanes", type=int, default=6, help="placements with concurrent runs")
    parser.add_argument("--simulated", type=int, default=6, help="members with a simulated agent")
    parser.add_argument("--real", type=int, default=1, help="members with an API server")
    parser.add_argument("--keep", type=Path, help="folder for all logs")
    arguments = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("tests").setLevel(logging.INFO)
    print(f"seed {arguments.seed}", flush=True)  # noqa: T201
    # Like Ctrl-C, so that a time limit leaves no server behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    servers = Servers(Servers.make_folder())
    try:
        outcome = asyncio.run(carry_out(_plan(arguments), servers))
    finally:
        if arguments.keep:
            shutil.copytree(servers.folder, arguments.keep, dirs_exist_ok=True)
        servers.end()
    show(outcome)
    sys.exit(not outcome.passed)


def _plan(arguments: argparse.Namespace) -> Plan:
    shape = Shape(simulated=arguments.simulated, real=arguments.real, roles=ROLES)
    members = [f"{name}-apiserver" for name in shape.real_members]
    return Plan(
        seed=arguments.seed,
        shape=shape,
        lanes=arguments.lanes,
        runs=arguments.runs,
        seconds=arguments.minutes * 60,
        # Fleetgate itself is a target twice as often as the servers that it needs.
        targets=[*ROLES, *ROLES, TEMPORAL, ETCD, "hub-apiserver", *members],
    )


if __name__ == "__main__":
    main()

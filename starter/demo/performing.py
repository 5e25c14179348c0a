"""Performing the demo: the fleet, the chapters, and what to look at next."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from rich.console import Console

from api.kinds import (
    CLUSTER_RESOURCE_PLACEMENT,
    CLUSTER_ROLLOUT_POLICY,
    CLUSTER_STAGED_UPDATE_RUN,
    CLUSTER_STAGED_UPDATE_STRATEGY,
    NAMESPACE,
)
from deploy.local.binaries import find_all
from deploy.local.fleet import FleetAddresses, LocalFleet
from deploy.local.paths import FleetPaths
from deploy.local.progress import ProgressDisplay
from deploy.local.state import DEFAULT_MEMBERS
from hub import Hub
from starter import output
from starter.demo import chapters, manifests, setbacks
from starter.demo.checking import FleetChecks
from starter.demo.tour import Narrator, Tour
from starter.messaging import reference
from starter.targets import Output, Target

CHAPTERS = (
    chapters.publish,
    chapters.change,
    chapters.plan,
    chapters.start,
    chapters.approve,
    chapters.stop,
    chapters.resume,
    chapters.roll_back,
    setbacks.limit,
    setbacks.skip,
    setbacks.roll_back,
)


def perform() -> None:
    """Start the fleet, tell all chapters, and leave the fleet up."""
    progress = ProgressDisplay(Console(stderr=True))
    fleet = LocalFleet(FleetPaths.here(), say=progress.say)
    # The strategy's stages match exactly these members: any other would be in no stage.
    addresses = fleet.up(find_all(progress=progress), count=DEFAULT_MEMBERS)
    asyncio.run(_tell(addresses, Narrator(output.console())))


async def _tell(addresses: FleetAddresses, narrator: Narrator) -> None:
    kubeconfig = addresses.hub_kubeconfig
    async with _checks(addresses) as checks:
        kubectl = shutil.which("kubectl") is not None
        narrator.say(f"The fleet is up. To use its hub: export KUBECONFIG={kubeconfig}")
        if not kubectl:
            narrator.say(
                "kubectl is not installed: its commands are shown but sent through the API."
            )
        await _clean_up(checks)
        tour = Tour(narrator, checks, kubeconfig, kubectl)
        for chapter in CHAPTERS:
            await chapter(tour)
        await _say_what_next(tour, addresses)


@asynccontextmanager
async def _checks(addresses: FleetAddresses) -> AsyncIterator[FleetChecks]:
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(await Hub.connect(addresses.hub_kubeconfig))
        members = {
            name: await stack.enter_async_context(await Hub.connect(path))
            for name, path in addresses.member_kubeconfigs.items()
        }
        yield FleetChecks(hub, members)


async def _clean_up(checks: FleetChecks) -> None:
    """Delete what an earlier demo left, and wait until it is gone from the members too."""
    left = [
        *((CLUSTER_STAGED_UPDATE_RUN, name) for name in manifests.RUNS),
        (CLUSTER_ROLLOUT_POLICY, manifests.POLICY),
        (CLUSTER_STAGED_UPDATE_STRATEGY, manifests.STRATEGY),
        (CLUSTER_RESOURCE_PLACEMENT, manifests.PLACEMENT),
        (NAMESPACE, manifests.NAMESPACE),
    ]
    for kind, name in left:
        if await checks.hub.find(kind, name) is not None:
            await checks.hub.delete(kind, name)
            await checks.until_gone(kind, name)


async def _say_what_next(tour: Tour, addresses: FleetAddresses) -> None:
    run = await tour.checks.until_run(manifests.SECOND_RUN, "there", lambda _: True)
    target = Target(addresses.hub_kubeconfig, None, "", Output.TABLE)
    workflow = quote(reference(run, target).workflow_id, safe="")
    ui = addresses.temporal_ui
    say = tour.narrator.say
    tour.narrator.step("Look around", "All steps verified. The fleet stays up.")
    say("")
    say(f"one of the runs in Temporal  {ui}/namespaces/default/workflows/{workflow}")
    say(f"all runs in Temporal         {ui}")
    say(f"kubectl on the hub           export KUBECONFIG={addresses.hub_kubeconfig}")
    for member, path in addresses.member_kubeconfigs.items():
        say(f"kubectl on {member:<18}export KUBECONFIG={path}")
    if shutil.which("fleetgate") is None:
        say(f"fleetgate itself             export PATH={Path(sys.executable).parent}:$PATH")
    say("runs                         fleetgate run list; fleetgate run show example-run")
    say("the fleet                    fleetgate local status; fleetgate local down")

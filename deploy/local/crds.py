"""Installing the CRD files of `deploy/crds`."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from api.kinds import CUSTOM_RESOURCE_DEFINITION
from deploy.local.errors import LocalFleetError
from hub import Hub

FOLDER: Final = Path(__file__).parent.parent / "crds"

_SERVED_WITHIN: Final = timedelta(seconds=30)


def definitions(folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Yield every definition of the folder, in the order of the file names."""
    for path in sorted(folder.glob("*.yaml")):
        yield from filter(None, yaml.safe_load_all(path.read_text(encoding="utf-8")))


async def install(hub: Hub, *, folder: Path = FOLDER) -> int:
    """Apply the definitions, wait until they are served, and return how many there are."""
    bodies = list(definitions(folder))
    await asyncio.gather(*(_install(hub, body) for body in bodies))
    return len(bodies)


async def _install(hub: Hub, body: dict[str, Any]) -> None:
    definition = await hub.apply(CUSTOM_RESOURCE_DEFINITION, body)
    name = definition["metadata"]["name"]
    try:
        async with asyncio.timeout(_SERVED_WITHIN.total_seconds()):
            await _wait_until_served(hub, definition)
    except TimeoutError as error:
        limit = f"{_SERVED_WITHIN.total_seconds():g} s"
        raise LocalFleetError(f"{hub.url} did not serve {name} within {limit}") from error


async def _wait_until_served(hub: Hub, definition: dict[str, Any]) -> None:
    if _is_established(definition):
        return
    metadata = definition["metadata"]
    changes = hub.watch(
        CUSTOM_RESOURCE_DEFINITION,
        resource_version=metadata["resourceVersion"],
        fields=f"metadata.name={metadata['name']}",
    )
    async with aclosing(changes):
        async for change in changes:
            if _is_established(change.object):
                return


def _is_established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions", [])
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)

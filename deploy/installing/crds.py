"""Installing the CRD files of `deploy/crds`."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from api.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from deploy.errors import DeployError
from hub import Forbidden, Hub, NotFound, TooManyRequests

FOLDER: Final = Path(__file__).parent.parent / "crds"

_SERVED_WITHIN: Final = timedelta(seconds=30)
_ASK_AGAIN: Final = timedelta(milliseconds=100)


# Schemas are long, and the C parser, where PyYAML has it, is ten times as fast.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def definition(kind: Kind, *, folder: Path = FOLDER) -> dict[str, Any]:
    """Return the CRD of a kind."""
    path = folder / f"{kind.group}_{kind.plural}.yaml"
    return _read(path)


def files(folder: Path = FOLDER) -> list[Path]:
    """Return the file of every CRD in the folder, sorted by name."""
    return sorted(folder.glob("*.yaml"))


def definitions(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Return every CRD in the folder, sorted by file name."""
    return [_read(path) for path in files(folder)]


async def install(hub: Hub, bodies: Iterable[dict[str, Any]]) -> None:
    """Apply the CRDs and wait until they are served."""
    await asyncio.gather(*(_install(hub, body) for body in bodies))


def _read(path: Path) -> dict[str, Any]:
    body: dict[str, Any] = yaml.load(path.read_bytes(), Loader=_LOADER)  # noqa: S506 - a safe loader
    return body


async def _install(hub: Hub, body: dict[str, Any]) -> None:
    definition = await hub.apply(CUSTOM_RESOURCE_DEFINITION, body)
    name = definition["metadata"]["name"]
    try:
        async with asyncio.timeout(_SERVED_WITHIN.total_seconds()):
            await hub.watch_until(CUSTOM_RESOURCE_DEFINITION, definition, _is_established)
            await _wait_until_answered(hub, _kind(definition))
    except TimeoutError as error:
        limit = f"{_SERVED_WITHIN.total_seconds():g} s"
        raise DeployError(f"{hub.url} did not serve {name} within {limit}") from error


async def _wait_until_answered(hub: Hub, kind: Kind) -> None:
    """List objects of the kind until the server answers: its cache is not filled at first."""
    while True:
        try:
            await hub.list(kind, fields="metadata.name=any")
        except (NotFound, TooManyRequests):
            await asyncio.sleep(_ASK_AGAIN.total_seconds())
        except Forbidden:
            return  # an answer too: the user who installs CRDs may lack the right to read objects
        else:
            return


def _kind(definition: dict[str, Any]) -> Kind:
    spec = definition["spec"]
    return Kind(
        spec["group"],
        next(each["name"] for each in spec["versions"] if each["served"]),
        spec["names"]["kind"],
        spec["names"]["plural"],
        namespaced=spec["scope"] == "Namespaced",
    )


def _is_established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []  # null right after creation
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)

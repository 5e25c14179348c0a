"""The manifests shipped in `deploy/rbac`."""

from pathlib import Path
from typing import Any, Final

import yaml

from deploy.errors import DeployError
from hub import Hub

FOLDER: Final = Path(__file__).parent.parent / "rbac"


def text(*files: Path) -> str:
    """Return manifests as they are shipped, one after the other."""
    return "---\n".join(each.read_text(encoding="utf-8") for each in files)


def documents(file: str) -> list[dict[str, Any]]:
    """Return all objects of one file."""
    return list(yaml.safe_load_all((FOLDER / file).read_text(encoding="utf-8")))


async def apply(hub: Hub, body: dict[str, Any]) -> None:
    """Apply an object of any kind. Raises DeployError if the hub does not serve the kind."""
    kind = await hub.kind_for(body["apiVersion"], body["kind"])
    if kind is None:
        raise DeployError(f"{hub.url} does not serve {body['apiVersion']} {body['kind']}")
    await hub.apply(kind, body)

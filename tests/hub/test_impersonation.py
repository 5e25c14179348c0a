"""A kubeconfig may name a user to impersonate."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hub import BadConfiguration, Hub
from starter.people import SELF_SUBJECT_REVIEW


def acting(kubeconfig: Path, folder: Path, **user: Any) -> Path:
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"][0]["user"] |= user
    path = folder / "acting.kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


async def test_requests_impersonate_the_user_in_the_kubeconfig(
    hub_kubeconfig: Path, tmp_path: Path
) -> None:
    user = {
        "as": "jane",
        "as-groups": ["sre", "system:authenticated"],
        "as-uid": "7",
        "as-user-extra": {"example.org/team": ["a", "b"]},
    }
    async with await Hub.connect(acting(hub_kubeconfig, tmp_path, **user)) as hub:
        review = await hub.create(SELF_SUBJECT_REVIEW, {"metadata": {}})
    assert review["status"]["userInfo"] == {
        "username": "jane",
        "uid": "7",
        "groups": ["sre", "system:authenticated"],
        "extra": {"example.org/team": ["a", "b"]},
    }


async def test_groups_without_a_user_are_refused(hub_kubeconfig: Path, tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="but not as"):
        await Hub.connect(acting(hub_kubeconfig, tmp_path, **{"as-groups": ["sre"]}))

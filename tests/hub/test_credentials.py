"""Tokens from a program are renewed without a restart; for files see test_rotation."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hub import credentials, kubeconfig
from hub.access import Access
from hub.credentials import Renewal
from tests.hub.test_kubeconfig import named, written

RFC3339 = "%Y-%m-%dT%H:%M:%SZ"


async def token(access: Access) -> str:
    return await access.authorization()


def make_old(access: Access) -> None:
    """Pretend that the time after which a token is renewed has passed."""
    renewal: object = access.authorization
    assert isinstance(renewal, Renewal)
    renewal._renewed_at -= credentials.RENEW_AFTER.total_seconds()


def plugin(folder: Path, *, lifetime: timedelta) -> dict[str, object]:
    """Return a credential plugin that returns another token each time, counting up."""
    expiry = (datetime.now(UTC) + lifetime).strftime(RFC3339)
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "token-NUMBER", "expirationTimestamp": expiry},
    }
    script = (
        f"echo >> {folder}/calls; n=$(wc -l < {folder}/calls); "
        f"echo '{json.dumps(answer)}' | sed s/NUMBER/$n/"
    )
    return {"apiVersion": answer["apiVersion"], "command": "sh", "args": ["-c", script]}


@pytest.mark.parametrize(
    ("lifetime", "expected"),
    [(timedelta(minutes=1), "Bearer token-2"), (timedelta(hours=1), "Bearer token-1")],
)
async def test_a_plugin_runs_again_when_its_token_is_about_to_expire(
    tmp_path: Path, lifetime: timedelta, expected: str
) -> None:
    file = written(tmp_path, named("x", exec=plugin(tmp_path, lifetime=lifetime)))
    access = await kubeconfig.load(file)
    assert await token(access) == "Bearer token-1"

    make_old(access)
    assert await token(access) == expected

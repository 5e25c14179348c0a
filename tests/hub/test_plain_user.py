"""Users of a kubeconfig that need no program are read without the official client."""

import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from ssl import CERT_NONE, CERT_REQUIRED
from typing import Any

import pytest

from hub import BadConfiguration, kubeconfig
from hub.access import Access
from tests.hub.test_kubeconfig import named, written


async def loaded(folder: Path, *, cluster: dict[str, Any] | None = None, **user: Any) -> Access:
    content = named("x", server="https://127.0.0.1:1/", **user)
    content["clusters"][0]["cluster"] |= cluster or {}
    return await kubeconfig.load(written(folder, content))


def data(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("user", "sent"),
    [
        ({}, ""),
        ({"token": "abc"}, "Bearer abc"),
        ({"token": "abc", "tokenFile": "none"}, "Bearer abc"),
        ({"username": "jane", "password": "secret"}, f"Basic {data('jane:secret')}"),
        ({"token": "abc", "username": "jane", "password": "secret"}, "Bearer abc"),
        ({"username": "jane"}, ""),
    ],
)
async def test_tokens_take_precedence_over_passwords(
    tmp_path: Path, user: dict[str, Any], sent: str
) -> None:
    assert await (await loaded(tmp_path, **user)).authorization() == sent


async def test_the_cluster_entry_determines_how_it_is_reached(tmp_path: Path) -> None:
    told = {"tls-server-name": "hub.example.com", "proxy-url": "http://127.0.0.1:2"}
    access = await loaded(tmp_path, cluster=told)
    assert access.host == "https://127.0.0.1:1"
    assert (access.server_name, access.proxy) == ("hub.example.com", "http://127.0.0.1:2")


@pytest.mark.parametrize(("insecure", "mode"), [(True, CERT_NONE), (False, CERT_REQUIRED)])
async def test_a_server_is_verified_unless_the_cluster_says_otherwise(
    tmp_path: Path, insecure: bool, mode: int
) -> None:
    access = await loaded(tmp_path, cluster={"insecure-skip-tls-verify": insecure})
    assert access.tls
    assert access.tls.verify_mode == mode
    assert access.tls.check_hostname is not insecure


async def test_over_plain_http_certificates_do_not_matter(tmp_path: Path) -> None:
    user = {"client-certificate": "none.crt", "client-key": "none.key"}
    access = await kubeconfig.load(written(tmp_path, named("x", **user)))
    assert access.tls is None


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        ({}, {"client-certificate": "none.pem"}),
        ({}, {"client-key": "none.pem"}),
        ({"certificate-authority": "none.pem"}, {}),
    ],
)
async def test_a_missing_file_is_named(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any]
) -> None:
    with pytest.raises(BadConfiguration, match=r"cannot be used: .*/none\.pem"):
        await loaded(tmp_path, cluster=cluster, **user)


@pytest.mark.parametrize("text", ["x", data("no certificate")])
async def test_data_that_is_not_a_certificate_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadConfiguration, match="cannot be used"):
        await loaded(tmp_path, cluster={"certificate-authority-data": text})


async def test_relative_paths_start_from_the_folder_of_their_kubeconfig(
    tmp_path: Path,
) -> None:
    users, clusters = tmp_path / "users", tmp_path / "clusters"
    users.mkdir()
    clusters.mkdir()
    written(users, "abc", name="token")
    whole = named("x", tokenFile="token")
    first = written(clusters, whole | {"users": []})
    second = written(users, {"users": whole["users"]})
    access = await kubeconfig.load(None, environment={"KUBECONFIG": f"{first}:{second}"})
    assert await access.authorization() == "Bearer abc"


def test_the_official_client_is_loaded_only_for_programs(tmp_path: Path) -> None:
    written(tmp_path, named("x", token="abc"))
    code = (
        "import asyncio, sys; from pathlib import Path; from hub import kubeconfig\n"
        "asyncio.run(kubeconfig.load(Path(sys.argv[1])))\n"
        "print('kubernetes' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "config")],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert done.stdout == "False\n"

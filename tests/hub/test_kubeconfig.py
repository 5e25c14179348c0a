"""Errors of unusable kubeconfigs say what to do about them."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from hub import BadConfiguration, Hub, kubeconfig, own_namespace


def named(name: str, *, server: str = "http://127.0.0.1:1", **user: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "users": [{"name": name, "user": user}],
    }


def written(folder: Path, content: Any, name: str = "config") -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return file


async def refusal(path: Path | None, *, context: str | None = None, **environment: str) -> str:
    with pytest.raises(BadConfiguration) as refused:
        await kubeconfig.load(path, context=context, environment=environment)
    return str(refused.value)


async def test_a_missing_file_is_named_together_with_the_alternatives(tmp_path: Path) -> None:
    text = await refusal(tmp_path / "none")

    assert str(tmp_path / "none") in text
    assert "--kubeconfig" in text
    assert "fleetgate local up" in text


@pytest.mark.parametrize(
    ("path", "context", "environment", "namespace"),
    [
        (None, None, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "fleetgate"),
        (None, None, {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBECONFIG": "/other/hub"}, ""),
        (Path("/other/hub"), None, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, ""),
        (None, "hub", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, ""),
        (None, None, {}, ""),
    ],
)
def test_a_pods_own_namespace_is_used_only_on_the_hub_that_it_runs_on(
    path: Path | None,
    context: str | None,
    environment: dict[str, str],
    namespace: str,
    tmp_path: Path,
) -> None:
    file = tmp_path / "namespace"
    file.write_text("fleetgate\n")
    found = own_namespace(path, context=context, environment=environment, file=file)
    assert found == namespace


async def test_a_missing_file_in_the_environment_is_named(tmp_path: Path) -> None:
    assert str(tmp_path / "none") in await refusal(None, KUBECONFIG=str(tmp_path / "none"))


async def test_a_folder_is_not_a_kubeconfig(tmp_path: Path) -> None:
    assert "cannot be read" in await refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "is empty or not a kubeconfig"),
        ("just words", "is empty or not a kubeconfig"),
        ("a: [", "is not YAML"),
        (named("x") | {"clusters": []}, "cannot be used"),
        (named("x") | {"contexts": None}, "has no context 'x' (it has: none)"),
        (named("x") | {"current-context": ""}, "choose one with --context (it has: x)"),
        (named("x") | {"contexts": [{"name": "x"}]}, "cannot be used"),
    ],
)
async def test_the_error_of_a_broken_file_says_what_is_wrong(
    tmp_path: Path, content: Any, text: str
) -> None:
    file = written(tmp_path, content)
    message = await refusal(file)

    assert text in message
    assert str(file) in message


async def test_an_unknown_context_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    message = await refusal(written(tmp_path, named("x")), context="prod")

    assert "no context 'prod' (it has: x)" in message


async def test_an_invalid_certificate_is_refused(tmp_path: Path) -> None:
    content = named("x", server="https://127.0.0.1:1")
    content["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
    written(tmp_path, "no certificate", name="ca.crt")

    with pytest.raises(BadConfiguration, match="certificate-authority"):
        await Hub.connect(written(tmp_path, content))


async def test_a_given_path_takes_precedence_over_the_environment(tmp_path: Path) -> None:
    given = written(tmp_path, named("x", server="http://given"))
    other = written(tmp_path, named("x", server="http://other"), name="other")

    access = await kubeconfig.load(given, environment={"KUBECONFIG": str(other)})

    assert access.host == "http://given"


async def test_several_files_are_merged_and_the_first_current_context_wins(
    tmp_path: Path,
) -> None:
    first = written(tmp_path, named("x", server="http://first"), name="first")
    second = written(tmp_path, named("y", server="http://second"), name="second")
    environment = {"KUBECONFIG": os.pathsep.join([str(first), str(second)])}

    assert (await kubeconfig.load(None, environment=environment)).host == "http://first"
    chosen = await kubeconfig.load(None, context="y", environment=environment)
    assert chosen.host == "http://second"


def test_the_contexts_of_all_files_are_named(tmp_path: Path) -> None:
    first, second = (written(tmp_path, named(name), name) for name in "ba")
    joined = {"KUBECONFIG": f"{first}{os.pathsep}{second}"}
    assert kubeconfig.contexts(None, joined) == ["a", "b"]
    assert kubeconfig.contexts(second, joined) == ["a"]
    with pytest.raises(BadConfiguration):
        kubeconfig.contexts(tmp_path / "none")


def test_a_cluster_is_handed_out_with_its_certificates_but_without_user_and_proxy(
    tmp_path: Path,
) -> None:
    (tmp_path / "ca.crt").write_text("pem")
    content = named("a", server="https://hub.example.org", token="secret")
    content["clusters"][0]["cluster"] |= {
        "certificate-authority": "ca.crt",
        "proxy-url": "http://127.0.0.1:1",
        "tls-server-name": "hub",
    }
    path = written(tmp_path, content)
    assert kubeconfig.cluster_to_hand_out(path, context="a") == {
        "server": "https://hub.example.org",
        "certificate-authority-data": "cGVt",
        "tls-server-name": "hub",
    }


async def test_a_pod_without_a_service_account_gets_a_clear_error() -> None:
    message = await refusal(None, KUBERNETES_SERVICE_HOST="10.0.0.1")

    assert "service account" in message


async def test_a_plugin_without_credentials_is_named(tmp_path: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "false"}

    message = await refusal(written(tmp_path, named("x", exec=plugin)))

    assert "credential plugin 'false' returned no credentials" in message

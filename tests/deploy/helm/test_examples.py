"""The values for production in docs/examples are valid, and connect as they say."""

from pathlib import Path

import pytest
import yaml

from deploy.packaging import ROOT
from tests.deploy.helm.charts import HUB_SIDE, MEMBER_SIDE, Helm, Json, merged, variables

FOLDER = ROOT / "docs" / "examples" / "production"
SERVER = "temporal-server.yaml"
"""Values of Temporal's chart."""


def example(name: str) -> Json:
    found: Json = yaml.safe_load((FOLDER / name).read_text())
    return found


TEMPORALS: dict[str, tuple[set[str], set[str]]] = {
    "temporal-cloud-api-key.yaml": ({"TEMPORAL_API_KEY"}, {"payload-keys"}),
    "temporal-cloud-mtls.yaml": (
        {"TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH"},
        {"payload-keys", "temporal-client"},
    ),
    "temporal-in-cluster.yaml": (set(), set()),
}
"""The variables that make a connection secure, and the Secrets that are mounted for it."""


@pytest.mark.parametrize("temporal", TEMPORALS)
def test_the_hub_side_connects_to_each_kind_of_temporal(temporal: str, helm: Helm) -> None:
    values = merged(example("hub.yaml"), example(temporal))
    engine = helm.render_as_given(HUB_SIDE, values).one("Deployment", "fleetgate-engine")
    pod = engine["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    secure, mounted = TEMPORALS[temporal]
    told = {each["name"] for each in container["env"]}
    assert {each for each in told if "TLS" in each or "API_KEY" in each} == secure
    assert {each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each} == mounted
    assert variables(container)["TEMPORAL_NAMESPACE"] == values["temporal"]["namespace"]


def test_the_temporal_in_the_cluster_has_the_namespace_of_the_runs() -> None:
    config = example(SERVER)["server"]["config"]
    (namespace,) = config["namespaces"]["namespace"]
    assert namespace["name"] == example("temporal-in-cluster.yaml")["temporal"]["namespace"]
    stores = config["persistence"]["datastores"]
    assert len({each["sql"]["databaseName"] for each in stores.values()}) == len(stores)


def test_an_agent_is_configured_but_for_its_name(helm: Helm) -> None:
    values = example("agent.yaml")
    ((_, container, _),) = helm.render_as_given(
        MEMBER_SIDE, values | {"member": "prod-1"}
    ).containers()
    assert "--member=prod-1" in container["args"]
    assert values["metrics"]["hub"] == example("hub.yaml")["metrics"]["hub"]


def test_every_example_is_described_where_people_install(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "operations" / "install.md").read_text()
    for file in FOLDER.iterdir():
        assert f"../examples/production/{file.name}" in page, file.name

"""The values cover every setting of a worker, and a wrong one is refused by name."""

import json
import re
from pathlib import Path

import click
import pytest
import yaml

from starter.cli import fleetgate
from tests.deploy.helm.charts import (
    HUB_SIDE,
    MEMBER_SIDE,
    Helm,
    Json,
    Refused,
    merged,
    variables,
)
from tests.deploy.helm.test_hub_side import VALUES
from wiring import Settings

CHARTS = pytest.mark.parametrize("chart", [HUB_SIDE, MEMBER_SIDE], ids=lambda chart: chart.name)

SET_OTHERWISE = {
    "run": "follows from `processes`",
    "kubeconfig": "hub.kubeconfigSecret, by KUBECONFIG",
    "metrics_address": "metrics.port",
    "payload_keys": "temporal.payloadKeysSecret",
    "identity": "the pod's name",
    "members": "kubeconfigs as files; in a cluster `memberSecrets` does the same",
}


def snake(key: str) -> str:
    return re.sub(r"([A-Z])", r"_\1", key).lower()


def test_every_setting_of_a_worker_has_a_value() -> None:
    values = yaml.safe_load((HUB_SIDE / "values.yaml").read_text())
    assert {snake(key) for key in values["settings"]} | set(SET_OTHERWISE) == set(
        Settings.model_fields
    )


def test_settings_default_to_the_workers_own_except_for_the_log_format(helm: Helm) -> None:
    found = [container for _, container, _ in helm.render(HUB_SIDE).containers()]
    workers = [container for container in found if container["args"] == ["worker"]]
    assert workers
    for container in workers:
        told = variables(container)
        for needed in ("FLEETGATE_RUN", "FLEETGATE_METRICS_ADDRESS", "FLEETGATE_LOG_FORMAT"):
            told.pop(needed)
        assert Settings.load(told) == Settings()


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_a_worker_accepts_every_variable_that_it_is_given(values: Json, helm: Helm) -> None:
    for _, container, _ in helm.render(HUB_SIDE, values).containers():
        told = variables(container)
        Settings.load(told)
        own = {name for name in told if name.startswith("FLEETGATE_")}
        assert own <= {f"FLEETGATE_{field.upper()}" for field in Settings.model_fields}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_the_command_line_has_every_command_that_a_container_runs(values: Json, helm: Helm) -> None:
    for _, container, _ in helm.render(HUB_SIDE, values).containers():
        understands(container["args"])


def understands(arguments: list[str]) -> None:
    """Parse a command line as `fleetgate` does, without running it. Raises UsageError."""
    command: click.Command = fleetgate
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), arguments[0])
        assert found is not None, arguments
        command, arguments = found, arguments[1:]
    options = command.make_parser(click.Context(command))
    _, left, _ = options.parse_args(list(arguments))
    assert left == []


@CHARTS
def test_the_schema_describes_every_value_and_rejects_all_others(chart: Path) -> None:
    schema = json.loads((chart / "values.schema.json").read_text())
    groups = [(schema["title"], schema)]
    while groups:
        path, group = groups.pop()
        assert group["additionalProperties"] is False, path
        for key, field in group["properties"].items():
            found = (
                schema["definitions"][field["$ref"].split("/")[-1]] if "$ref" in field else field
            )
            is_group = any("description" in each for each in found.get("properties", {}).values())
            assert is_group or "description" in field | found, f"{path}.{key}"
            if is_group:
                groups.append((f"{path}.{key}", found))


WRONG: dict[str, tuple[Path, Json, str]] = {
    "an unknown name": (HUB_SIDE, {"enigne": {}}, "enigne"),
    "an unknown nested name": (
        HUB_SIDE,
        {"settings": {"stuckafter": "5m"}},
        r"/settings.*stuckafter",
    ),
    "an invalid duration": (HUB_SIDE, {"settings": {"stuckAfter": "soon"}}, "/settings/stuckAfter"),
    "an invalid namespace": (
        HUB_SIDE,
        {"settings": {"skippedNamespaces": "a,B"}},
        "/settings/skippedNamespaces",
    ),
    "a number without a unit": (HUB_SIDE, {"settings": {"stuckAfter": 5}}, "/settings/stuckAfter"),
    "an unknown placement": (
        HUB_SIDE,
        {"settings": {"placement": "kubefleet"}},
        "/settings/placement.*'builtin', 'external'",
    ),
    "an unknown way to run": (
        HUB_SIDE,
        {"processes": "both"},
        "/processes.*'separate', 'together'",
    ),
    "half a replica": (HUB_SIDE, {"engine": {"replicas": 1.5}}, "/engine/replicas"),
    "a negative number of replicas": (HUB_SIDE, {"engine": {"replicas": -1}}, "/engine/replicas"),
    "no image": (HUB_SIDE, {"image": {"repository": ""}}, "image.repository is empty: set it to"),
    "a name with a slash": (HUB_SIDE, {"fullnameOverride": "a/b"}, "/fullnameOverride"),
    "an unknown alert": (
        HUB_SIDE,
        {"metrics": {"alerts": {"enabled": True, "rules": {"FleetgateSlow": {"for": "1m"}}}}},
        "rules.FleetgateSlow: there is no such alert; the alerts are FleetgateRunStuck, ",
    ),
    "a threshold where there is none": (
        HUB_SIDE,
        {"metrics": {"alerts": {"enabled": True, "rules": {"FleetgateRunStuck": {"above": 1}}}}},
        "rules.FleetgateRunStuck.above is set, but this alert has no threshold: remove it",
    ),
    "an unknown field of an alert": (
        HUB_SIDE,
        {"metrics": {"alerts": {"rules": {"FleetgateRunStuck": {"below": 1}}}}},
        "/metrics/alerts/rules/FleetgateRunStuck.*below",
    ),
    "an account that nobody creates": (
        HUB_SIDE,
        {"engine": {"serviceAccount": {"create": False}}},
        "engine.serviceAccount.create is false, so engine.serviceAccount.name is needed",
    ),
    "an agent's account that nobody creates": (
        MEMBER_SIDE,
        {"serviceAccount": {"create": False}},
        "serviceAccount.create is false, so serviceAccount.name is needed",
    ),
    "an unnamed sidecar": (HUB_SIDE, {"extraContainers": [{"image": "x"}]}, "/extraContainers/0"),
    "no Temporal": (HUB_SIDE, {"temporal": {"address": ""}}, "temporal.address is empty: set"),
    "a Temporal without a port": (
        HUB_SIDE,
        {"temporal": {"address": "temporal"}},
        "/temporal/address",
    ),
    "a Temporal as a URL": (
        HUB_SIDE,
        {"temporal": {"address": "https://temporal:7233"}},
        "/temporal/address",
    ),
    "a Secret as a string": (
        HUB_SIDE,
        {"temporal": {"apiKeySecret": "key"}},
        "/temporal/apiKeySecret",
    ),
    "a short digest": (HUB_SIDE, {"image": {"digest": "sha256:123"}}, "/image/digest"),
    "a privileged port": (HUB_SIDE, {"metrics": {"port": 80}}, "/metrics/port"),
    "a context without a kubeconfig": (
        HUB_SIDE,
        {"settings": {"context": "prod"}},
        "settings.context names a context of a kubeconfig, but hub.kubeconfigSecret.name is empty",
    ),
    "a build without a deployment": (
        HUB_SIDE,
        {"settings": {"buildId": "1"}},
        "settings.deployment and settings.buildId go together",
    ),
    "no member": (MEMBER_SIDE, {"member": ""}, "member is empty: set it to the name"),
    "an invalid name of a member": (MEMBER_SIDE, {"member": "Prod_1"}, "/member"),
    "no hub": (
        MEMBER_SIDE,
        {"hub": {"kubeconfigSecret": {"name": ""}}},
        "the hub is not configured: set hub.kubeconfigSecret.name, or hub.server",
    ),
    "two hubs": (
        MEMBER_SIDE,
        {"hub": {"server": "https://hub:6443"}},
        "hub.kubeconfigSecret.name and hub.server are both set",
    ),
    "a hub without a token": (
        MEMBER_SIDE,
        {"hub": {"kubeconfigSecret": {"name": ""}, "server": "https://hub:6443"}},
        "hub.server needs hub.tokenSecret.name",
    ),
    "a hub without TLS": (MEMBER_SIDE, {"hub": {"server": "http://hub:6443"}}, "/hub/server"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_value_is_refused_by_name(what: str, helm: Helm) -> None:
    chart, values, told = WRONG[what]
    with pytest.raises(Refused, match=told):
        helm.render(chart, values)


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_global_values_of_a_parent_chart_are_accepted(values: Json, helm: Helm) -> None:
    assert helm.render(HUB_SIDE, merged(values, {"global": {"region": "eu"}}))


@CHARTS
def test_all_missing_required_values_are_named_at_once(chart: Path, helm: Helm) -> None:
    with pytest.raises(Refused) as refused:
        helm.render_as_given(chart, {})
    required = {HUB_SIDE: "temporal.address", MEMBER_SIDE: "member"}
    for each in ("image.repository", required[chart]):
        assert f"{each} is empty: set it to" in str(refused.value)

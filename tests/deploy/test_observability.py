"""Alert rules and dashboard use only metrics that exist."""

import json
import re
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any, cast

import aiohttp
import promql_parser as promql
import pytest
import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from agent import AgentMetrics
from api.kinds import CLUSTER_SCOPE
from deploy.installing import crds
from deploy.local import ports
from docs.generator.markdown import slug
from hub import Hub
from planning.runs.phases import Phase, Progress
from starter.cli import COMMANDS
from starter.groups import OF_RUN as RUN
from telemetry import ProcessHealth, register_readiness
from tests.support.eventually import eventually
from tests.support.servers import Servers
from tests.support.temporal_server import TemporalServer
from tests.support.workers import ROOT, worker_process
from workflows import search_attribute_names

FOLDER = ROOT / "deploy" / "observability"
PARTS_OF_HISTOGRAM = ("_bucket", "_count", "_sum")
MADE_BY_GRAFANA = {"$__rate_interval": "5m", "$__range": "6h"}
MADE_BY_PROMETHEUS = {"instance", "job"}
MADE_BY_SCRAPING = {"hub"}
OF_ALERTS = "ALERTS"
"""The series that Prometheus makes of active alerts."""


def rules(file: str = "alerts.yaml") -> list[dict[str, str]]:
    groups = yaml.safe_load((FOLDER / file).read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def all_rules() -> list[dict[str, str]]:
    return rules() + rules("agent-alerts.yaml")


def panels() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((FOLDER / "grafana-dashboard.json").read_text())[
        "panels"
    ]
    return found


def variables() -> dict[str, dict[str, Any]]:
    """The variables of the dashboard, by name."""
    dashboard = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    return {each["name"]: each for each in dashboard["templating"]["list"]}


def expressions() -> list[str]:
    found = [rule["expr"] for rule in rules()]
    for panel in panels():
        targets = panel.get("targets", [])
        assert isinstance(targets, list)
        found += [target["expr"] for target in targets]
    return [filled_in(each) for each in found]


def filled_in(expression: str) -> str:
    """Replace the durations that Grafana computes."""
    for name, value in MADE_BY_GRAFANA.items():
        expression = expression.replace(name, value)
    return expression


def selectors(expression: str) -> list[promql.VectorSelector]:
    """All selectors in an expression."""
    return [each for each in nodes(expression) if isinstance(each, promql.VectorSelector)]


def nodes(expression: str) -> list[promql.Expr]:
    """All parts of an expression."""
    found: list[promql.Expr] = []
    promql.walk(promql.parse(expression), found.append)
    return found


@pytest.fixture(scope="module")
async def measured(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, set[str]]]:
    """The metrics of a worker and the names of their labels.

    The worker has processed a run and then lost Temporal: some metrics exist only after that.
    """
    server = await servers.started_api_server()
    temporal = TemporalServer(servers, tmp_path_factory.mktemp("temporal"))
    await temporal.start()
    address = f"127.0.0.1:{ports.choose()}"
    worker = worker_process(
        tmp_path_factory.mktemp("worker") / "worker.log",
        KUBECONFIG=str(server.kubeconfig),
        TEMPORAL_ADDRESS=temporal.address,
        FLEETGATE_RUN="engine,bridge,placement",
        FLEETGATE_TASK_QUEUE=address,
        FLEETGATE_METRICS_ADDRESS=address,
    )
    async with await Hub.connect(server.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        with worker:
            await fail_a_run(hub)
            await shows(address, "temporal_activity_execution_latency_seconds")
            await temporal.stop()
            yield await shows(address, "temporal_long_request_failure_total")
    await server.kill()


async def fail_a_run(hub: Hub) -> None:
    """Create a run that fails at once, because its placement does not exist."""
    spec = {"placementName": "none", "stagedRolloutStrategyName": "none", "state": "Run"}
    await hub.create(CLUSTER_SCOPE.run, {"metadata": {"name": "any"}, "spec": spec})

    async def conditions() -> list[str]:
        run = await hub.get(CLUSTER_SCOPE.run, "any")
        return [each["reason"] for each in run.get("status", {}).get("conditions", [])]

    await eventually(conditions, lambda found: "UpdateRunInitializedFailed" in found)


async def shows(address: str, metric: str) -> dict[str, set[str]]:
    """Wait until a metric exists, and return all metrics."""
    return await eventually(lambda: scrape(address), lambda found: metric in found)


async def scrape(address: str) -> dict[str, set[str]]:
    async with aiohttp.ClientSession() as http, http.get(f"http://{address}/metrics") as response:
        text = await response.text()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found[name] = {label for sample in family.samples for label in sample.labels}
    return found


def family_of(name: str, known: dict[str, set[str]]) -> str:
    """The metric that a series belongs to."""
    for part in PARTS_OF_HISTOGRAM:
        if name.removesuffix(part) in known:
            return name.removesuffix(part)
    return name


def test_every_metric_in_use_is_exported_by_a_worker(measured: dict[str, set[str]]) -> None:
    asked = [each for text in expressions() for each in selectors(text)]
    assert len(asked) >= len(expressions())
    for selector in asked:
        assert selector.name
        if selector.name == OF_ALERTS:
            continue
        name = family_of(selector.name, measured)
        assert name in measured, f"no worker shows {selector.name}"
        labels = measured[name] | MADE_BY_PROMETHEUS | MADE_BY_SCRAPING
        for matcher in selector.matchers.matchers:
            # Metrics of waiting gates and silent members have no series while there are none.
            assert not measured[name] or matcher.name in labels, f"{selector.name}: {matcher.name}"


def test_every_metric_in_agent_alerts_is_exported_by_an_agent() -> None:
    registry = CollectorRegistry()
    AgentMetrics(registry).of("any").beat()
    register_readiness(registry, ProcessHealth(), name="fleetgate_agent_ready")
    measured = {
        sample.name: set(sample.labels) for each in registry.collect() for sample in each.samples
    }
    for rule in rules("agent-alerts.yaml"):
        asked = selectors(rule["expr"])
        assert asked
        for selector in asked:
            assert selector.name in measured
            assert {each.name for each in selector.matchers.matchers} <= measured[selector.name]


@pytest.mark.parametrize(("label", "known"), [("phase", Phase), ("progress", Progress)])
def test_all_phases_in_use_exist(label: str, known: type[StrEnum]) -> None:
    asked = [
        value
        for text in expressions()
        for selector in selectors(text)
        for matcher in selector.matchers.matchers
        if matcher.name == label
        for value in matcher.value.split("|")
    ]
    assert asked
    assert set(asked) <= {str(each) for each in known}


def every_expression() -> list[str]:
    return expressions() + [rule["expr"] for rule in rules("agent-alerts.yaml")]


def test_nothing_mixes_the_series_of_several_hubs() -> None:
    aggregations = [
        node
        for text in every_expression()
        for node in nodes(text)
        if isinstance(node, promql.AggregateExpr)
    ]
    assert len(aggregations) > 20
    for each in aggregations:
        assert each.modifier is not None, each
        assert "hub" in each.modifier.labels, each
        assert each.modifier.type == promql.AggModifierType.By, each


def test_every_panel_shows_the_chosen_hubs_only() -> None:
    asked = [
        (panel["title"], selector)
        for panel in panels()
        for target in cast("list[dict[str, str]]", panel.get("targets", []))
        for selector in selectors(filled_in(target["expr"]))
    ]
    assert asked
    for title, selector in asked:
        chosen = {each.name: each.value for each in selector.matchers.matchers}
        assert chosen["hub"] == "$hub", (title, selector.name)
        if "run" in str(title).lower() and (selector.name or "").startswith("fleetgate_run_"):
            assert (chosen["namespace"], chosen["placement"]) == ("$namespace", "$placement")


def test_the_variables_offer_what_the_metrics_have() -> None:
    found = variables()
    for name in ("hub", "namespace", "placement"):
        query = found[name]["query"]["query"]
        assert re.fullmatch(rf"label_values\((.+), {name}\)", query)
        # With a single hub no series needs the label; a cluster-scoped run has no namespace.
        assert found[name]["allValue"] == ".*"
    text = (FOLDER / "grafana-dashboard.json").read_text()
    used = set(re.findall(r"\$\{?([a-z_]+)", text)) - {"labels", "__rate_interval", "__range"}
    assert {each for each in used if not each.startswith("__")} <= set(found)


def test_links_of_the_dashboard_lead_to_sections_that_exist() -> None:
    text = (FOLDER / "grafana-dashboard.json").read_text()
    links = re.findall(r"\$\{documentation\}/([\w/-]+)\.html(?:#([\w-]+))?", text)
    assert links
    for page, section in links:
        written = (ROOT / "docs" / f"{page}.md").read_text()
        headings = {slug(each) for each in re.findall(r"^#+ (.+)$", written, re.MULTILINE)}
        assert not section or section in headings


def test_links_to_temporal_find_runs_by_their_search_attributes() -> None:
    text = (FOLDER / "grafana-dashboard.json").read_text()
    pages = "${temporal}/namespaces/${temporal_namespace}/workflows?query="
    queries = re.findall(rf'{re.escape(pages)}([^"]+)', text)
    assert queries
    known = set(search_attribute_names.Name)
    for query in queries:
        assert set(re.findall(r"(Fleetgate[A-Za-z]+)", query)) <= known


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    assert rules()
    assert rules("agent-alerts.yaml")
    for rule in all_rules():
        assert rule["alert"].startswith("Fleetgate")
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}  # type: ignore[index]
        assert set(rule["annotations"]) == {"runbook_url", "summary", "description"}


def test_every_alert_links_to_its_section_and_every_section_has_an_alert() -> None:
    page = "docs/operations/alerts.md"
    headings = re.findall(r"^## (.+)$", (ROOT / page).read_text(), flags=re.MULTILINE)
    assert headings == [rule["alert"] for rule in all_rules()]
    for rule in all_rules():
        link = rule["annotations"]["runbook_url"]  # type: ignore[index]
        assert link == f"{page}#{slug(rule['alert'])}"


def test_the_alert_of_a_failed_run_says_which_run_it_is() -> None:
    (rule,) = (each for each in rules() if each["alert"] == "FleetgateRunFailed")
    asked = selectors(rule["expr"])
    assert {each.name for each in asked} == {"fleetgate_run_failures_total"}
    summary = rule["annotations"]["summary"]  # type: ignore[index]
    assert set(re.findall(r"\$labels\.(\w+)", summary)) == {"namespace", "run", "placement"}


def test_commands_in_alerts_exist() -> None:
    text = (FOLDER / "alerts.yaml").read_text()
    found = re.findall(r"`fleetgate (\S+) (\S+)", text)
    assert found
    for command, word in found:
        assert command in COMMANDS
        assert command != "run" or word.strip("`") in RUN


def test_panels_have_unique_ids_and_positions() -> None:
    numbers = [panel["id"] for panel in panels()]
    assert len(set(numbers)) == len(numbers)
    places = [str(panel["gridPos"]) for panel in panels()]
    assert len(set(places)) == len(places)

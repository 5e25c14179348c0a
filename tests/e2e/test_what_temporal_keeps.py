"""Temporal stores facts about runs, but nothing of what they placed.

Named so that it runs last of these tests: it reads what all their runs left in Temporal.
"""

import asyncio
import base64
import secrets
from dataclasses import dataclass

import pytest
from temporalio.client import Client

from api.kinds import SECRET
from tests.e2e import namespaced, objects
from tests.e2e.fleet import Fleet
from tests.e2e.namespaced import Person
from workflows.plugin import connect

ONLY_IN_MANIFESTS = (
    '"apiVersion"',
    '"selectedResources"',
    '"rawExtension"',
    '"manifests"',
    '"stringData"',
    "last-applied-configuration",
)
"""Parts of objects, as they would appear in a payload."""

CONTENT = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: test-cm
  namespace: test-namespace
  annotations:
    example.com/note: {annotation}
data:
  {key}: {value}
---
apiVersion: v1
kind: Secret
metadata:
  name: test-secret
  namespace: test-namespace
stringData:
  password: {secret}
"""
BOTH = """
    - group: ""
      kind: Secret
      name: test-secret
      version: v1
  policy:"""
NAMESPACED_STRATEGY = objects.GATED_STRATEGY.replace("ClusterStaged", "Staged")


@dataclass(frozen=True)
class Canary:
    """Texts that appear in placed objects and nowhere else."""

    annotation: str
    key: str
    value: str
    secret: str

    @classmethod
    def fresh(cls) -> "Canary":
        return cls(*(f"canary-{part}-{secrets.token_hex(8)}" for part in cls.__annotations__))

    @property
    def manifest(self) -> str:
        """The manifests of the objects."""
        return CONTENT.format(**vars(self))

    @property
    def traces(self) -> list[str]:
        """The texts themselves, and in base64 at each of the three possible offsets."""
        texts = list(vars(self).values())
        return [*texts, *(part for text in texts for part in _in_base64(text))]


def _in_base64(text: str) -> list[str]:
    """Return the parts of the encodings that do not depend on the surrounding text."""
    shifted = [base64.b64encode(b"\0" * shift + text.encode()).decode() for shift in range(3)]
    return [each[4:-4] for each in shifted]


@pytest.mark.parametrize("scope", ["cluster", "namespaced"])
def test_temporal_keeps_nothing_of_what_is_placed(fleet: Fleet, scope: str) -> None:
    canary = Canary.fresh()
    fleet.kubectl("create namespace test-namespace")
    fleet.kubectl("apply -f -", stdin=canary.manifest)
    roll_out(fleet) if scope == "cluster" else roll_out_in_namespace(fleet)
    placed = fleet.clients.find(SECRET, "test-secret", namespace="test-namespace", on="member1")
    assert placed is not None
    assert placed["data"]["password"] == base64.b64encode(canary.secret.encode()).decode()

    kept = asyncio.run(everything(fleet.addresses.temporal))
    # The search finds what Temporal does store: the run's cluster, and an approval's comment.
    assert found(kept, ["member1", "because-it-works"]) == ["member1", "because-it-works"]
    assert found(kept, canary.traces) == []
    assert found(kept, ONLY_IN_MANIFESTS) == []


def test_the_search_would_find_a_secret_in_any_encoding() -> None:
    canary = Canary.fresh()
    for around in ("", "a", "ab"):
        text = f"{around}{canary.secret}"
        assert found(text.encode(), canary.traces)
        assert found(base64.b64encode(text.encode()), canary.traces)


def roll_out(fleet: Fleet) -> None:
    for manifest in (objects.PLACEMENT, objects.GATED_STRATEGY):
        fleet.kubectl("apply -f -", stdin=manifest)
    fleet.kubectl("wait clusterresourcesnapshots example-placement-0-snapshot --for=create")
    fleet.kubectl("apply -f -", stdin=objects.run("canaries", index="0", state="Run"))
    fleet.kubectl("wait clusterapprovalrequests canaries-before-all --for=create --timeout=60s")
    fleet.fleetgate("approve canaries all --before --comment because-it-works")
    fleet.kubectl("wait csur canaries --for=condition=Succeeded --timeout=120s")


def roll_out_in_namespace(fleet: Fleet) -> None:
    person = Person(fleet, "test-namespace")
    home = namespaced.namespace_placement("test-namespace-placement", "test-namespace")
    fleet.kubectl("apply -f -", stdin=home)
    person.apply(namespaced.CONFIG_MAP_PLACEMENT.replace("\n  policy:", BOTH))
    person.apply(NAMESPACED_STRATEGY)
    person.kubectl("wait resourcesnapshots example-placement-0-snapshot --for=create")
    person.run(
        "canaries",
        placement="example-placement",
        strategy="example-strategy",
        index="0",
        state="Run",
    )
    person.pending_approval("canaries-before-all")
    fleet.fleetgate("approve canaries all --before --comment because-it-works -n test-namespace")
    person.wait_for_run("canaries", "Succeeded")


def found(kept: bytes, texts: list[str] | tuple[str, ...]) -> list[str]:
    """Return the texts that are in what Temporal keeps."""
    return [each for each in texts if each.encode() in kept]


async def everything(address: str) -> bytes:
    """Read everything that Temporal keeps of all workflows, as serialized.

    Payloads are not compressed, so texts appear in them as written: in inputs, results, headers,
    memos, search attributes, summaries and messages of failures.
    """
    client = await connect({"TEMPORAL_ADDRESS": address})
    found = client.list_workflows()
    kept = [await _of_workflow(client, each.id, each.run_id) async for each in found]
    assert kept
    return b"\n".join(kept)


async def _of_workflow(client: Client, name: str, run_id: str) -> bytes:
    handle = client.get_workflow_handle(name, run_id=run_id)
    history, described = await asyncio.gather(handle.fetch_history(), handle.describe())
    events = [each.SerializeToString() for each in history.events]
    return b"\n".join([*events, described.raw_description.SerializeToString()])

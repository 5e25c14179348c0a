"""What an agent may write of the Works of its member."""

import pytest

from api.base import OwnerReference
from api.kinds import NAMESPACE, WORK, Kind
from api.members import Subject
from hub import Forbidden, Hub, Json
from planning.members import member_rights
from tests.rights.conftest import Person
from tests.support.conditions import condition
from tests.support.eventually import eventually


@pytest.fixture
async def work(admin: Hub, unique: str) -> Json:
    """A Work in the namespace of a member."""
    namespace = f"fleet-member-{unique}"
    await admin.apply(NAMESPACE, {"metadata": {"name": namespace}})
    labels = {"kubernetes-fleet.io/parent-CRP": "web"}
    metadata = {"name": "w", "namespace": namespace, "labels": labels}
    spec: Json = {"workload": {"manifests": []}}
    return await admin.create(WORK, {"metadata": metadata, "spec": spec})


@pytest.fixture
async def agent(admin: Hub, person: Person, work: Json, unique: str) -> Hub:
    """A client with the rights that placement grants an agent."""
    identity = Subject(kind="User", name=unique)
    owner = OwnerReference(api_version="v1", kind="Namespace", name="default", uid="none")
    for body in member_rights.rights(unique, identity=identity, owner=owner):
        body["metadata"].pop("ownerReferences", None)
        group, _, version = body["apiVersion"].partition("/")
        plural = f"{body['kind'].lower()}s"
        namespaced = "namespace" in body["metadata"]
        await admin.apply(Kind(group, version, body["kind"], plural, namespaced=namespaced), body)
    client = await person(unique)

    change = {"metadata": {"annotations": {"any": "thing"}}}
    namespace = work["metadata"]["namespace"]

    async def in_force() -> bool:
        """The API server takes a moment to notice rights and policies."""
        try:
            await client.patch(WORK, "w", change, namespace=namespace, dry_run=True)
        except Forbidden as error:
            return "may change finalizers" in str(error)
        return False

    await eventually(in_force)
    return client


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"labels": {"kubernetes-fleet.io/parent-CRP": "another"}}},
        {"metadata": {"labels": {"kubernetes-fleet.io/envelope-work": "nonsense"}}},
        {"metadata": {"annotations": {"any": "thing"}}},
        {"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
        ]}},
        {"spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "ConfigMap"}]}}},
    ],
)  # fmt: skip
async def test_an_agent_changes_nothing_of_a_work_but_finalizers_and_status(
    agent: Hub, work: Json, change: Json
) -> None:
    namespace = work["metadata"]["namespace"]
    with pytest.raises(Forbidden, match="may only change the finalizers and the status of works"):
        await agent.patch(WORK, "w", change, namespace=namespace)

    held = {"metadata": {"finalizers": ["kubernetes-fleet.io/work-cleanup"]}}
    found = await agent.patch(WORK, "w", held, namespace=namespace)
    assert found["metadata"]["finalizers"] == held["metadata"]["finalizers"]
    said = {"status": {"conditions": [condition("Applied")]}}
    await agent.patch(WORK, "w", said, namespace=namespace, subresource="status")
    await agent.patch(WORK, "w", {"metadata": {"finalizers": None}}, namespace=namespace)


async def test_placement_writes_works_as_before(clients: dict[str, Hub], work: Json) -> None:
    change = {"metadata": {"labels": {"kubernetes-fleet.io/parent-CRP": "another"}}}
    namespace = work["metadata"]["namespace"]
    changed = await clients["placement"].patch(WORK, "w", change, namespace=namespace)
    assert changed["metadata"]["labels"] == change["metadata"]["labels"]

"""What an agent may write to the Works of its member."""

import pytest

from api.base import OwnerReference
from api.kinds import NAMESPACE, WORK, Kind
from api.members import RbacSubject
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
    """A client with the rights that the placement grants to an agent."""
    identity = RbacSubject(kind="User", name=unique)
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
        """True once rights and policies are in force, which takes the API server a moment."""
        try:
            await client.patch(WORK, "w", change, namespace=namespace, dry_run=True)
        except Forbidden as error:
            return "may only change the finalizers" in str(error)
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
async def test_an_agent_may_only_change_the_finalizers_and_status_of_a_work(
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


async def test_the_placement_may_still_write_works(clients: dict[str, Hub], work: Json) -> None:
    change = {"metadata": {"labels": {"kubernetes-fleet.io/parent-CRP": "another"}}}
    namespace = work["metadata"]["namespace"]
    changed = await clients["placement"].patch(WORK, "w", change, namespace=namespace)
    assert changed["metadata"]["labels"] == change["metadata"]["labels"]

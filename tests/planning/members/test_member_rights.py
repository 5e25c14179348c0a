"""Rights of a member's agent on the hub."""

from pathlib import Path

import yaml

import deploy
from api.base import OwnerReference
from api.members import RbacSubject
from planning.members.member_rights import fingerprint, rights

SHIPPED = Path(deploy.__file__).parent / "rbac" / "member-agent-on-hub.yaml"
AGENT = RbacSubject(kind="ServiceAccount", name="m1", namespace="fleetgate-agents")
OWNER = OwnerReference(api_version="v1", kind="MemberCluster", name="m1", uid="1")


def test_the_shipped_file_grants_the_same_rights() -> None:
    documents = yaml.safe_load_all(SHIPPED.read_text().replace("MEMBER", "m1"))
    shipped = {each["metadata"]["name"]: each["rules"] for each in documents if "rules" in each}
    granted = rights("m1", identity=AGENT, owner=OWNER)
    assert {each["metadata"]["name"]: each["rules"] for each in granted if "rules" in each} == (
        shipped
    )


def test_all_rights_are_granted_to_the_identity_and_to_no_other_subject() -> None:
    granted = rights("m1", identity=AGENT, owner=OWNER)
    bindings = [each for each in granted if each["kind"].endswith("Binding")]
    assert [each["subjects"] for each in bindings] == [[AGENT.to_wire()]] * 2
    assert [each["roleRef"]["name"] for each in bindings] == [
        "fleetgate-member-m1",
        "fleetgate-member-works",
    ]


def test_cluster_rights_are_deleted_with_the_member_and_others_with_its_namespace() -> None:
    for each in rights("m1", identity=AGENT, owner=OWNER):
        metadata = each["metadata"]
        owned = metadata.get("ownerReferences") == [OWNER.to_wire()]
        assert owned != (metadata.get("namespace") == "fleet-member-m1")


def test_another_identity_has_another_hash() -> None:
    one = rights("m1", identity=AGENT, owner=OWNER)
    other = rights("m1", identity=RbacSubject(kind="User", name="m1"), owner=OWNER)
    assert fingerprint(one) == fingerprint(rights("m1", identity=AGENT, owner=OWNER))
    assert fingerprint(one) != fingerprint(other)

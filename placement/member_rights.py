"""Grants each member's agent what it needs on the hub, to whom the MemberCluster names.

Granted anew when a member rejoins: its rights go with it.

contract: placement 11 (identity) and 12 (rejoining)
"""

import logging

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE, Kind
from api.members import MemberCluster
from hub import Forbidden, Hub, Json
from placement.metadata import owner_reference
from planning.members import member_rights

logger = logging.getLogger(__name__)


async def grant(hub: Hub, body: Json, *, namespace: Json) -> Json | None:
    """Make the member's roles and bindings, unless its namespace says that they are there.

    Args:
        hub: client of the hub.
        body: the MemberCluster.
        namespace: the member's namespace; what was granted is noted on it.

    Returns:
        The namespace as it is then; None when nothing was done.
    """
    member = MemberCluster.from_wire(body)
    wanted = member_rights.rights(
        member.metadata.name,
        identity=member.spec.identity,
        owner=owner_reference(MEMBER_CLUSTER, body),
    )
    noted = member_rights.fingerprint(wanted)
    if namespace["metadata"].get("annotations", {}).get(names.GRANTED) == noted:
        return None
    try:
        for each in wanted:
            await hub.apply(_kind(each), each)
    except Forbidden as error:
        # The operator may prefer to grant them; without, the agent says itself what it lacks.
        logger.warning("member %s gets no rights: %s", member.metadata.name, error)
        return None
    patch = {"metadata": {"annotations": {names.GRANTED: noted}}}
    return await hub.patch(NAMESPACE, namespace["metadata"]["name"], patch)


def _kind(body: Json) -> Kind:
    group, _, version = body["apiVersion"].partition("/")
    kind = body["kind"]
    namespaced = "namespace" in body["metadata"]
    return Kind(group, version, kind, f"{kind.lower()}s", namespaced=namespaced)

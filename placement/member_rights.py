"""Rights on the hub for each member's agent, granted to the identity in its MemberCluster.

They are deleted when a member leaves, and granted again when it rejoins.

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
    """Create the member's roles and role bindings, unless its namespace says that they exist.

    Args:
        hub: client of the hub.
        body: the MemberCluster.
        namespace: the member's namespace; an annotation on it records what was granted.

    Returns:
        The updated namespace; None if nothing was granted.
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
        # The operator may prefer to grant them; until then the agent reports what it lacks.
        logger.warning("cannot grant rights to member %s: %s", member.metadata.name, error)
        return None
    patch = {"metadata": {"annotations": {names.GRANTED: noted}}}
    return await hub.patch(NAMESPACE, namespace["metadata"]["name"], patch)


def _kind(body: Json) -> Kind:
    group, _, version = body["apiVersion"].partition("/")
    kind = body["kind"]
    namespaced = "namespace" in body["metadata"]
    return Kind(group, version, kind, f"{kind.lower()}s", namespaced=namespaced)

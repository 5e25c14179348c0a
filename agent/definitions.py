"""Making sure that the member serves AppliedWork, which the agent needs to record objects.

contract: placement 8
"""

from contextlib import aclosing

from agent.errors import AgentError
from api.crds import definition, file_name
from api.kinds import APPLIED_WORK, CUSTOM_RESOURCE_DEFINITION
from api.works import AppliedWork
from hub import Forbidden, Hub, Invalid, Json
from planning.members.availability import Availability, judge


async def ensure(cluster: Hub, *, member: str) -> None:
    """Install the definition of AppliedWork on a member that does not serve it yet.

    Raises:
        AgentError: the agent may not install it; the text says what an operator can do.
        HubError: the member cannot be reached.
    """
    if await cluster.kind_for(APPLIED_WORK.api_version, APPLIED_WORK.kind) is not None:
        return
    body = definition(AppliedWork)
    try:
        installed = await cluster.apply(CUSTOM_RESOURCE_DEFINITION, body)
        await _wait_until_served(cluster, installed)
    except (Forbidden, Invalid) as error:
        name = body["metadata"]["name"]
        raise AgentError(
            f"member {member!r} does not serve AppliedWork and refuses its definition {name} "
            f"({error}); allow the agent's user to create CustomResourceDefinitions there, or "
            f"apply deploy/crds/{file_name(AppliedWork)} to the member yourself"
        ) from error


async def _wait_until_served(cluster: Hub, installed: Json) -> None:
    if _is_served(installed):
        return
    metadata = installed["metadata"]
    changes = cluster.watch(
        CUSTOM_RESOURCE_DEFINITION,
        resource_version=metadata["resourceVersion"],
        fields=f"metadata.name={metadata['name']}",
    )
    async with aclosing(changes) as events:
        async for event in events:
            if _is_served(event.object):
                return


def _is_served(installed: Json) -> bool:
    return judge(CUSTOM_RESOURCE_DEFINITION, installed) is Availability.AVAILABLE

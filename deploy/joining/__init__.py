"""Joining a member cluster to a hub, and removing it: what either needs on the two clusters.

The objects that are created are labelled, and only labelled ones are changed or deleted later.
"""

from typing import Final

ACCOUNTS: Final = "fleetgate-agents"
"""Namespace on the hub with a ServiceAccount for each member's agent; the same as in
`deploy/rbac/member-agent-on-hub.yaml`."""
MEMBER_SECRETS: Final = "fleet-members"
"""Namespace on the hub with the kubeconfigs of members whose agents run in a worker."""
AGENT: Final = "fleetgate-agent"
"""ServiceAccount of an agent on its member, and the chart's release."""
AGENT_NAMESPACE: Final = "fleetgate"
"""Namespace on the member; the same as in `deploy/rbac/member-agent-on-member.yaml`."""
HUB_SECRET: Final = "fleetgate-hub"  # noqa: S105 - its name
"""Secret on the member with the agent's kubeconfig for the hub."""
KUBECONFIG: Final = "kubeconfig"
"""Key of a Secret that holds a kubeconfig."""

"""The override snapshots that apply to one cluster, as runs record and bindings name them.

contract: update-runs 7.8, placement 6
"""

from pydantic import BaseModel, ConfigDict

from api.base import NamespacedName


class ClusterOverrides(BaseModel):
    """Names of snapshots, in the order in which they apply. Stored in workflow history."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    cluster: str
    cluster_resource: list[str] = []
    resource: list[NamespacedName] = []

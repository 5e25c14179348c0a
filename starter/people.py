"""Who is typing, as the hub knows them."""

from api.kinds import Kind
from hub import Hub, HubError

SELF_SUBJECT_REVIEW = Kind(
    "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False
)


async def user_of(hub: Hub) -> str:
    """Name of the kubeconfig's user; empty when the hub does not tell."""
    try:
        review = await hub.create(SELF_SUBJECT_REVIEW, {"metadata": {}})
    except HubError:
        return ""  # An API server may not serve the review; a name is a courtesy, not a right.
    name: str = review.get("status", {}).get("userInfo", {}).get("username", "")
    return name


def signature(user: str, by: str | None) -> str:
    """Who is recorded: the user that the hub knows, and the person for whom they say they act.

    What somebody merely says about themselves never stands alone.
    """
    if not by or by == user:
        return user
    return f"{user or 'an unknown user'} on behalf of {by}"

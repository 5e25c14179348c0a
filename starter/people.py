"""The user at the terminal, as the hub knows them."""

from api.kinds import Kind
from hub import Hub, HubError

SELF_SUBJECT_REVIEW = Kind(
    "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False
)


async def user_of(hub: Hub) -> str:
    """Return the name of the kubeconfig's user; empty if the hub does not say."""
    try:
        review = await hub.create(SELF_SUBJECT_REVIEW, {"metadata": {}})
    except HubError:
        return ""  # an API server may not serve the review, and commands work without the name
    name: str = review.get("status", {}).get("userInfo", {}).get("username", "")
    return name


def signature(user: str, by: str | None) -> str:
    """Return who is recorded: the user that the hub knows, and the person they say they act for.

    A name that was only claimed, with --by, is never recorded alone.
    """
    if not by or by == user:
        return user
    return f"{user or 'an unknown user'} on behalf of {by}"

"""Reaching the member cluster, whose errors must not read like those of the hub."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import hub
from starter.failures import CommandFailure, ExitCode
from starter.targets import Target

_ADVICE: Final[dict[type[hub.HubError], str]] = {
    hub.BadConfiguration: "choose the member cluster with --context and --member-kubeconfig",
    hub.Unavailable: "is it running, and can this machine reach it? "
    "Check `kubectl cluster-info --context …`",
    hub.Unauthorized: "it rejects the kubeconfig's credentials; get new ones",
    hub.Forbidden: "joining needs an administrator of the member cluster, "
    "because an agent may apply every kind of object there",
}


@contextmanager
def of_member(member: Target) -> Iterator[None]:
    """Report errors of an API server as those of the member cluster."""
    try:
        yield
    except hub.HubError as error:
        where = f" (context {member.context})" if member.context else ""
        advice = next((text for kind, text in _ADVICE.items() if isinstance(error, kind)), "")
        is_usage = isinstance(error, hub.BadConfiguration)
        raise CommandFailure(
            f"member cluster{where}: {error}",
            advice=advice,
            exit_code=ExitCode.USAGE if is_usage else ExitCode.FAILED,
        ) from error

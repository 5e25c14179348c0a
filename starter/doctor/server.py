"""Checks of the hub's API server: it answers, its version, its clock."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import hub
from starter import failures, words
from starter.doctor.findings import Finding, Setup, ok, problem, warning

OLDEST: Final = (1, 30)
"""The first with ValidatingAdmissionPolicy, which restricts approvals to approvers."""
TRIED: Final = (1, 34)
"""The version that fleetgate is tested with. Newer ones keep the APIs that fleetgate uses."""
SKEW: Final = timedelta(seconds=5)
"""Clock difference that starts to distort the ages that people read."""
_MUTATING: Final = "MutatingAdmissionPolicy"


async def answers(setup: Setup) -> Sequence[Finding]:
    """Check that the API server answers, and with which version."""
    about = f"API server {setup.hub.url}"
    try:
        version = await setup.hub.version()
        served = await setup.hub.kinds()
    except (hub.Unavailable, hub.Unauthorized, hub.BadConfiguration) as error:
        failure = failures.explain(error)
        commands = [setup.command("kubectl cluster-info")]
        return [problem(about, str(error), advice=failure.advice, commands=commands)]
    versions = [each.version for each in served if each.kind == _MUTATING]
    policies = f"serves {_MUTATING} {versions[0]}" if versions else f"does not serve {_MUTATING}"
    return [judged(about, version, policies)]


def judged(about: str, version: str, policies: str) -> Finding:
    """Judge whether fleetgate supports an API server of that version."""
    found = re.match(r"v?(\d+)\.(\d+)", version)
    number = (int(found[1]), int(found[2])) if found else OLDEST
    if number < OLDEST:
        return problem(
            about,
            f"{version} is older than {_dotted(OLDEST)}, the oldest that fleetgate supports",
            advice="upgrade the hub's control plane",
        )
    newer = f", newer than {_dotted(TRIED)}, which fleetgate is tested with" * (number > TRIED)
    return ok(about, f"{version}{newer}; {policies}")


async def clock(setup: Setup) -> Sequence[Finding]:
    """Check that this machine and the API server agree on the time."""
    before = datetime.now(UTC)
    answered = await setup.hub.clock()
    return [agreement(answered, before=before, after=datetime.now(UTC))]


def agreement(answered: datetime, *, before: datetime, after: datetime) -> Finding:
    """Compare the time in an answer with this machine's times of request and answer."""
    about = "clocks of the hub and of this machine"
    # The answer's time is truncated to whole seconds, so up to a second is no difference.
    behind, ahead = before - answered - timedelta(seconds=1), answered - after
    if max(behind, ahead) <= SKEW:
        return ok(about, "agree")
    word = "ahead of" if ahead > behind else "behind"
    return warning(
        about,
        f"the hub is {words.age(max(behind, ahead))} {word} this machine",
        advice="synchronize the clocks with NTP. Ages shown here are wrong, and a worker with this "
        "clock misjudges which members are alive",
        commands=["timedatectl status"],
    )


def _dotted(number: tuple[int, int]) -> str:
    return f"{number[0]}.{number[1]}"

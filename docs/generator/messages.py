"""The page of messages of failed runs, from the definitions that make and explain them."""

from api.kinds import CLUSTER_SCOPE
from docs.generator.markdown import Pages, code, literal, page, plain
from planning import failures
from planning.errors import InitializationError
from planning.failures import RunFailure

_INTRO = (
    "Every message with which an update run ends, as text to search for: what happened, and what "
    "to do. Words in capitals stand for names, numbers and other messages. `fleetgate run explain "
    "NAME` shows the same for a run, with its names and the state of its clusters. Kinds and "
    "commands are those of cluster-scoped runs; "
    "[in a namespace](../troubleshooting.md#in-a-namespace) they have other names."
)
_PREFIXES = (
    "Prefixes that say no more than this are left out here: `cannot continue the updateRun`, "
    "`failed to validate the updateRun`, `failed to process the request due to a client error`, "
    "`unexpected behavior which cannot be handled by the controller`."
)
_PLANNING = (
    "The condition `Initialized` is False, with reason `UpdateRunInitializedFailed`. No cluster "
    "was touched. The run is over: fix the cause and create a new one."
)
_PROGRESS = (
    "The condition `Succeeded` is False, with reason `UpdateRunFailed`. Clusters keep what they "
    "have: nothing is rolled back unless a rollout policy says so. The run is over."
)


def pages() -> Pages:
    """Return the page."""
    early = [each for each in failures.ALL if each.ends is InitializationError]
    late = [each for each in failures.ALL if each not in early]
    text = page(
        "Messages",
        _INTRO,
        _PREFIXES,
        "## The run could not be planned",
        _PLANNING,
        *(part for each in early for part in _told(each)),
        "## The run failed while it was in progress",
        _PROGRESS,
        *(part for each in late for part in _told(each)),
    )
    return {"messages.md": text}


def heading(failure: RunFailure) -> str:
    """Return the message with a word in capitals for each of its parameters."""
    return failure.text.fill(**_capitals(failure))


def _told(failure: RunFailure) -> tuple[str, ...]:
    message = failure.words(**_capitals(failure))
    meaning = failures.explain(
        message, scope=CLUSTER_SCOPE, placement="PLACEMENT", strategy="STRATEGY"
    )
    return (
        f"### {literal(heading(failure))}",
        plain(meaning.cause),
        f"→ {plain(meaning.fix)}",
        code("\n".join(meaning.commands), "text") if meaning.commands else "",
    )


def _capitals(failure: RunFailure) -> dict[str, str]:
    return {name: name.upper() for name in failure.text.parameters}

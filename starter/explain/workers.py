"""Detecting that no worker drives a run, by what one would have done long ago. Pure."""

from typing import Final

from api.names import RUN_FINALIZER
from starter import words
from starter.explain.looks import NOBODY_ACTS, Attention, Look, Situation, last_step

NO_WORKER: Final = "No worker with the roles engine and bridge watches this hub."
_HELD_UP: Final = (
    "No worker drives the run, the worker cannot reach the hub or Temporal, or a change of the "
    "placement is incomplete."
)


def late(look: Look, *says: str, cause: str = NO_WORKER) -> Situation:
    """Describe a run that waits for something that a worker should have done long ago."""
    return Situation(
        says=says,
        acts="Someone has to check that a worker is running and can reach the hub and Temporal.",
        attention=Attention.WORKER,
        since=last_step(look.run) or look.view.created,
        cause=cause,
        cure="Start a worker, or read the log of the running one.",
        commands=("fleetgate worker --run engine,bridge",),
    )


def pending(look: Look) -> Situation:
    """Describe a run that has not been planned yet."""
    says = f"Created {look.ago(look.view.created)} ago and not planned yet."
    if not look.is_overdue(look.view.created):
        return Situation((says,), f"{NOBODY_ACTS} A worker plans it within moments.")
    if RUN_FINALIZER in look.run.metadata.finalizers:
        return late(look, f"{says[:-1]}, although a worker has seen it.", cause=_HELD_UP)
    return late(look, says, "No worker has picked it up: is one running?")


def about_to(look: Look, where: str, what: str) -> Situation:
    """Describe a run whose spec.state was set to Run, and that is about to start or resume."""
    says = f"{where} {look.done}"
    writer = look.state_writer
    since = max(filter(None, [look.decided, writer.at if writer else None]), default=None)
    if look.is_overdue(since):
        waits = f"It was due to {what} {look.ago(since)} ago: is a worker running?"
        return late(look, says, waits, cause=_HELD_UP)
    return Situation((f"{says} It is about to {what}.",), NOBODY_ACTS, since=since)


def between(look: Look) -> Situation:
    """Describe a run between two steps: no cluster is in flight and no gate is closed."""
    since = last_step(look.run)
    says = f"At {look.place}, with no cluster in flight. {look.done}"
    if look.is_overdue(since):
        quiet = f"Nothing has happened for {look.ago(since)}: is a worker running?"
        return late(look, says, quiet, cause=_HELD_UP)
    return Situation((says,), NOBODY_ACTS, since=since)


def unheeded(look: Look) -> Situation | None:
    """Describe a run whose last change of spec.state no worker has reacted to; None for others."""
    generation = look.run.metadata.generation
    if all(each.observed_generation >= generation for each in look.run.status.conditions):
        return None
    writer = look.state_writer
    if writer is None or not look.is_overdue(writer.at):
        return None
    return late(
        look,
        f"{words.upper(words.sentence(look.view, look.now))}. {look.done}",
        f"spec.state was set to {look.view.state}{look.by} {look.ago(writer.at)} ago, and no "
        "worker has reacted: is one running?",
    )


def going(look: Look) -> Situation:
    """Describe a run that is being deleted."""
    since = look.run.metadata.deletion_timestamp
    says = f"Being deleted, for {look.ago(since)} so far. Clusters keep what they have."
    if look.is_overdue(since):
        waits = "A worker has to remove its approval requests first: is one running?"
        return late(look, says, waits)
    return Situation((says,), NOBODY_ACTS, since=since)

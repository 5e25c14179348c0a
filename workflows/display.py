"""What the Temporal UI shows of a run: a table of its stages, and its search attributes."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.runs import overview
    from workflows import search_attributes
    from workflows.rollout import Rollout


class Display:
    """Keeps Temporal's view of the run up to date."""

    def __init__(self, rollout: Rollout, *, searchable: bool) -> None:
        self._rollout = rollout
        self._searchable = searchable
        self._shown = ""
        # Not read from Temporal's record of the attributes: that depends on which are registered,
        # and a replay could then diverge.
        self._indexed = search_attributes.moving(rollout.ledger.status)

    async def run(self) -> None:
        """Show each change, until cancelled."""
        while True:
            changes = self._rollout.ledger.changes
            self._describe()
            if self._searchable:
                self._index()
            await self._changed(changes)

    async def _changed(self, seen: int) -> None:
        await workflow.wait_condition(lambda: self._rollout.ledger.changes != seen)

    def _describe(self) -> None:
        """Update the table."""
        rollout = self._rollout
        text = overview.markdown(
            rollout.ledger.status,
            run=rollout.run,
            desired=rollout.intent.state,
            approvals=rollout.approvals.pending,
        )
        if text != self._shown:
            self._shown = text
            workflow.set_current_details(text)

    def _index(self) -> None:
        """Update the search attributes; each change is a history event, so not for each cluster."""
        found = search_attributes.moving(self._rollout.ledger.status)
        changed = [key for key, value in found.items() if self._indexed[key] != value]
        if changed:
            self._indexed = found
            workflow.upsert_search_attributes([key.value_set(found[key]) for key in changed])

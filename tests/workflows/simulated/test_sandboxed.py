"""An eventful run in the product's own sandbox, which forbids what would not replay."""

from tests.planning.run_samples import APPROVAL, WAIT
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import stage
from workflows.messages import Answer


def test_an_eventful_run_succeeds_in_the_sandbox(begin: Begin) -> None:
    run = begin(
        stage("one", "a", "b", after_stage_tasks=[WAIT, APPROVAL]),
        stage("two", "c"),
        leaving=("x",),
        takes=lambda name: 400 if name == "a" else 10,
        searchable=True,
        limits=Limits(suggest_events=50),
        sandboxed=True,
    )
    run.until_handed_out("a")
    assert run.update("pause").result(Answer).text.startswith("run v2 is stopping: it waits")
    run.wait(10)
    run.resume()
    run.until_asked("v2-after-one")
    run.temporal.lose_worker()
    assert run.update("approve").result(Answer).text == "stage one (after) is approved"
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.handed_out == ["a", "b", "c"]
    assert len(run.temporal.executions) > 1

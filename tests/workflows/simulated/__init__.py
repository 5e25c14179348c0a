"""Workflows in virtual time: the workflow class itself, a simulated Temporal, a simulated hub.

The ring between the pure tests of `planning` and the real servers of `tests/conformance`: it proves
what a workflow decides, in milliseconds, at times and sizes that nobody can wait for. It does not
prove that Temporal or Kubernetes behave as simulated here, nor what the activities do.

    timeline              virtual time: jumps from one event to the next
    sdk_instance          a workflow instance of the SDK; the only user of its private parts
    histories             what Temporal would write into the history, and its limits
    activity_attempts     attempts of activities: retries, timeouts, lost workers
    virtual_executions    one execution: workflow tasks, timers, messages, replay
    virtual_temporal      a workflow with its executions, as a client sees it
    simulated_hub         the objects of the hub, and what people do to them
    simulated_activities  what the activities answer
    simulated_runs        all of it together, for one run: what a test uses
"""

"""Workflows in virtual time: the real workflow class, a simulated Temporal, a simulated hub.

These tests are the layer between the pure tests of `planning` and the real servers of
`tests/conformance`: they test what a workflow decides, in milliseconds, over periods and at sizes
that would be too slow in real time. They do not test that Temporal or Kubernetes behave as
simulated here, nor what the activities do.

    timeline              virtual time, which jumps from one event to the next
    sdk_instance          a workflow instance of the SDK; the only user of its private parts
    histories             what Temporal would write to the history, and its limits
    activity_attempts     attempts of activities: retries, timeouts, lost workers
    virtual_executions    one execution: workflow tasks, timers, messages, replay
    virtual_temporal      a workflow with its executions, as a client sees it
    simulated_hub         the objects on the hub, and what people do to them
    simulated_activities  the results of activities
    simulated_runs        all of it together, for one run; this is what tests use
"""

"""A fault campaign: many runs on a real fleet whose processes and network keep failing.

`make soak`, or `python -m tests.soak --help`. Each module has one responsibility:

    orders      the plan of a lane: runs, their stages, gates, stops (pure, from a seed)
    strikes     the sequence of faults (pure, from a seed)
    fleet       the processes, each of which can be killed, paused, stopped and started again
    members     a process that acts as the agents of simulated members
    people      requests of people, retried while the hub is unreachable
    objects     the objects that people create on the hub
    lanes       one placement with its runs, one after the other
    striking    carries out the faults
    history     the writes to the hub, each once
    reading     reads them from the hub's audit log and its etcd
    trails      the writes of one run, in order
    judging     the rules for a run, checked on its trail (pure)
    statuses    the rules for its status (pure)
    report      the results
    campaign    all of it together
"""

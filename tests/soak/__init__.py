"""A fault campaign: many runs on a real fleet whose processes and network fail all the time.

`make soak`, or `python -m tests.soak --help`. Each module has one duty:

    orders      what is asked for: runs, their stages, gates, stops (pure, from a seed)
    strikes     which faults happen, one after the other (pure, from a seed)
    fleet       the processes, each of which can be killed, paused, ended and started again
    members     a process that plays the agents of simulated members
    people      people at a hub that is away at times: they watch, approve, stop, resume
    objects     what people write on the hub
    lanes       one placement with its runs, one after the other
    striking    carries the strikes out
    history     the writes to the hub, each once
    reading     reads them from the hub's audit log and its store
    trails      the writes of one run, put in order
    judging     what has to hold of a run, over its trail (pure)
    statuses    what has to hold of its status (pure)
    report      what came of it
    campaign    all of it together
"""

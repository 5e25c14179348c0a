"""`fleetgate run explain`: where a run is, why it waits, who must act and what happens next.

command      the command
collecting   reads the objects on the hub about the clusters and gates that a run waits for
evidence     what was read
troubles     what is wrong on one cluster
situations   what a run does or waits for, and who must act
prospects    what happens after that
explanations all of it put together, and the order of several runs
showing      explanations as text for a terminal
documents    explanations as data
"""

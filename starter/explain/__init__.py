"""`fleetgate run explain`: where a run is, why it waits, who must act and what happens next.

command      the command
collecting   reads the runs, and the objects about the clusters and gates that they wait for
looks        a run at one moment, with what was read about it
reaching     kubectl commands for a member
reasons      what each reason of a condition means, and what to do about it
refusals     the same for what a hub or member refuses
troubles     what is wrong on one cluster
situations   what a run does or waits for, and who must act
prospects    what happens after that
explanations all of it put together, and the order of several runs
showing      explanations as text for a terminal, and as data
"""

"""`fleetgate run explain`: where a run is, why it waits, who must act and what happens next.

command      what is typed, and in which order runs are shown
collecting   reads what the hub has of the clusters and gates that a run waits for
evidence     what was read
troubles     what is wrong on one cluster
situations   what a run does or waits for, and who must act
prospects    what happens after that
explanations all of it together
showing      as text for a terminal
documents    as data
"""

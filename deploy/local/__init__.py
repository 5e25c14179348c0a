"""The embedded fleet: real API servers, etcd and Temporal as processes of one folder.

Its one duty is to find the programs, start them, look after them and end them again. It knows
Kubernetes only through `hub`, and Temporal only as a program and an address.
"""

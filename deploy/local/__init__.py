"""The embedded fleet: real API servers, etcd and Temporal, run as processes from one folder.

This package finds the programs, starts, supervises and stops them. It reaches Kubernetes only
through `hub`, and knows Temporal only as a program and an address.
"""

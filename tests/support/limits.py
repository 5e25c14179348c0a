"""Limits of the clients by which tests look and write."""

from datetime import timedelta

from hub import Limits

PATIENT = Limits(connect_timeout=timedelta(seconds=30), request_timeout=timedelta(seconds=60))
"""For whoever expects an answer: a server that stands still for some seconds is waited for."""

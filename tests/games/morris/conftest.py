"""Hypothesis without a deadline: the reference is written for reading and takes its time."""

from hypothesis import settings

settings.register_profile("reference", deadline=None)
settings.load_profile("reference")

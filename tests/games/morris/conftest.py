"""Hypothesis without a deadline, because the reference is slow."""

from hypothesis import settings

settings.register_profile("reference", deadline=None)
settings.load_profile("reference")

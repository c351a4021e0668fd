"""Estimates of the time, memory and disk that a solve needs."""

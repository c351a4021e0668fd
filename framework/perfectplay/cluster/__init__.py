"""Solving on several machines: Ray workers share the tiers (docs/cluster.md)."""

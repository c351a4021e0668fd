"""The same solve on many machines: tiers shared out between workers, which Ray connects (docs/cluster.md)."""

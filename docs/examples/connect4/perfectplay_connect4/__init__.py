"""Connect Four for perfectplay: options, tiers, and a kernel in C."""

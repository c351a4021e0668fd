"""Three, six and nine men's morris for perfectplay."""

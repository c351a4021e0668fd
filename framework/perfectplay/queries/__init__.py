"""What people ask of a solved table: moves and their worth, lines, samples, selections, statistics."""

"""The tiers of a game: enumerating their positions and ordering them for the solver."""

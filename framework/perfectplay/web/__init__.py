"""The browser: `solve serve`. A page on which solved games are explored and played, and the JSON behind it."""

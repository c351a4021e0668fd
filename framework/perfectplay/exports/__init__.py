"""Tables in other people's formats."""

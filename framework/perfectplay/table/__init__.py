"""Solved tables: finding, opening, probing and storing them.

>>> from perfectplay import load_game, open_table
>>> with open_table(load_game("gobblet")) as table:
...     print(table.probe(0))
win in 13
"""

"""Mū tōrere for perfectplay: a small game in which play can go round in circles for ever."""

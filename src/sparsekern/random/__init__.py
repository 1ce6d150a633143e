"""Compiled random variates that numpy does not offer."""

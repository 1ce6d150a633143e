"""Moves of the samplers: one file for each kind."""

"""Compiled linear algebra: triangular systems and the whitened active-set factor."""

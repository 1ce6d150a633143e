"""Sparse models by evidence: vectors enter, are weighed anew and leave, one at a time."""

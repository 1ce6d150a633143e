"""Sparse models by evidence: vectors enter, change their weight and leave, one at a time."""

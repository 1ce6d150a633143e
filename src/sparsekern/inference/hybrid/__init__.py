"""Gaussian processes over feature sets: evidence, search, prediction."""

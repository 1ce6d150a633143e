"""Markov chain Monte Carlo: the sweep's moves, one file each, and the chain runner."""

"""The generalized kernel model: its sweep and its sampler."""

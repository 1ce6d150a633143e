"""Additive kernel models, one weight vector per kernel, by variational inference."""

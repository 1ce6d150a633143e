"""Bayesian multiple kernel learning by variational inference."""

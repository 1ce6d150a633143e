"""Basis columns: what the active-set sampler draws its design matrix from."""

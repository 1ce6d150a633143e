"""Kernel projections as a scikit-learn estimator."""

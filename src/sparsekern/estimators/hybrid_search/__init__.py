"""Gaussian processes averaged over feature sets as scikit-learn estimators."""

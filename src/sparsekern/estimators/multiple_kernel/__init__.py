"""Multiple kernel learning as scikit-learn estimators."""

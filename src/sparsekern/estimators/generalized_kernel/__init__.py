"""The generalized kernel model as scikit-learn estimators."""

"""The doubly-sparse kernel model as scikit-learn estimators."""

"""Vector machines as scikit-learn estimators."""

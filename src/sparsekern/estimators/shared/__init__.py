"""What estimators of all families share."""

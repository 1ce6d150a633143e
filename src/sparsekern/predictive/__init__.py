"""Laws of new responses."""

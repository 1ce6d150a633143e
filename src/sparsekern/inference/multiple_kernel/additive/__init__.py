"""Multiple kernel learning with a function of its own for each kernel."""

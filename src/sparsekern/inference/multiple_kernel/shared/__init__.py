"""Multiple kernel learning with one vector of sample weights for all kernels."""

"""The doubly-sparse kernel model: its sweep and its samplers."""

"""Chains: how long they run, in which legs, and how they are saved."""

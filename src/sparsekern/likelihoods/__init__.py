"""Likelihoods: how responses reach the working response and precision."""

from .probit import Probit

__all__ = ["Probit"]

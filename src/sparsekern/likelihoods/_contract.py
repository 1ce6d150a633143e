"""What every likelihood offers.

Compiled code lives beside the class, in the same file, under names the engine imports; the class
carries what prediction and reports need. ``provides`` lists abilities; an engine compares them with
what it ``requires`` and refuses by a sentence (:func:`sparsekern.model.check_compatible`).
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Likelihood(Protocol):
    """The face of a likelihood in prediction, diagnostics and reports."""

    name: ClassVar[str]
    provides: ClassVar[frozenset[str]]

    def mean(self, latent: np.ndarray) -> np.ndarray:
        """Return the expected response at latent values f."""
        ...

    def link(self, mean: np.ndarray) -> np.ndarray:
        """Return the latent value whose expected response is ``mean``."""
        ...

    def log_likelihood(self, response: np.ndarray, latent: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each response at each latent value."""
        ...

r"""Maximum a posteriori fits of Gaussian-process problems and their evidence.

:math:`\hat u=\arg\max\ell(u)+\log p(u)` with gamma priors on :math:`1/\lambda`, :math:`1/\tau`,
:math:`1/\sigma^2`, in log parameters with the Jacobian:
:math:`\log p(u_m)=a\log b-\log\Gamma(a)-au_m-be^{-u_m}`. The evidence is Laplace's,

.. math::
    \log\hat m=\ell(\hat u)+\log p(\hat u)+\tfrac m2\log2\pi-\tfrac12\log|H|,\qquad
    H=-\nabla^2(\ell+\log p)(\hat u),

or the criterion :math:`\ell(\hat u)-\frac{m}2\log n` ("bic"). Newton's method with the
eigenvalues of H made positive, all problems of a batch at once, those that have converged left
out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ._contract import BOX, Backend, Batch

_MOST_STEPS = 60
_LONGEST = 2.0  # of a Newton step, along each eigenvector
_FLATTEST = 0.01  # eigenvalue
_DECREMENT = 1e-5  # half of what Newton's step promises, below which it is not taken
_LAST_DECREMENT = 1e-3  # below which it is the last one, if the mode is all that is asked for
_SUFFICIENT = 1e-4
_HALVINGS = 12
_EIGENVALUE_FLOOR = 1e-6  # of H, in the evidence


class ParameterPrior(NamedTuple):
    """(shape, rate) of the inverse of amplitude, bandwidth and noise variance."""

    amplitude: tuple[float, float]
    bandwidth: tuple[float, float]
    noise: tuple[float, float]

    def terms(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log p(u) [B], its gradient [B, m] and minus its second derivatives [B, m]."""
        middle = [self.bandwidth] * (parameters.shape[1] - 2)
        shape, rate = np.array([self.amplitude, *middle, self.noise]).T
        inverse = rate * np.exp(-parameters)
        constant = (shape * np.log(rate) - gammaln(shape)).sum()
        value = constant - (shape * parameters + inverse).sum(axis=1)
        return value, inverse - shape, inverse


class Fits(NamedTuple):
    """What came of a batch."""

    parameters: np.ndarray  # float64[B, m]
    log_likelihood: np.ndarray  # float64[B], at them
    log_evidence: np.ndarray  # float64[B], by Laplace's method
    hessian: np.ndarray  # float64[B, m, m], H, positive definite
    doubtful: np.ndarray  # bool[B]: no maximum was reached, or H had to be made positive


def _solve_definite(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve small systems, all at once, by elimination; say which matrices are well definite.

    A library routine for one small system after the other takes most of the time of a large batch.
    """
    m = right.shape[1]
    work, solution = matrix.copy(), right.copy()
    definite = np.ones(len(right), bool)
    with np.errstate(all="ignore"):  # what is not definite is not used
        for i in range(m):
            definite &= work[:, i, i] > _FLATTEST
            for j in range(i + 1, m):
                share = work[:, j, i] / work[:, i, i]
                work[:, j, i:] -= share[:, None] * work[:, i, i:]
                solution[:, j] -= share * solution[:, i]
        for i in reversed(range(m)):
            for j in range(i + 1, m):
                solution[:, i] -= work[:, i, j] * solution[:, j]
            solution[:, i] /= work[:, i, i]
    return solution, definite & np.isfinite(solution).all(axis=1)


def _direction(
    gradient: np.ndarray, hessian: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Newton's step with |eigenvalues|, cut to size, none out of the box.

    The second array tells which steps are Newton's own, neither changed nor cut.
    """
    stuck = ((u <= BOX[0]) & (gradient < 0)) | ((u >= BOX[1]) & (gradient > 0))
    gradient = np.where(stuck, 0.0, gradient)
    hessian = np.where(stuck[:, :, None] | stuck[:, None, :], 0.0, hessian)
    step, definite = _solve_definite(hessian, gradient)
    rest = np.flatnonzero(~definite | (np.abs(step) > _LONGEST).any(axis=1))
    if len(rest):
        values, vectors = np.linalg.eigh(hessian[rest])
        scaled = np.einsum("bij,bi->bj", vectors, gradient[rest])
        scaled /= np.maximum(np.abs(values), _FLATTEST)
        # cut along eigenvectors: what is cut along coordinates may no longer lead uphill
        step[rest] = np.einsum("bij,bj->bi", vectors, np.clip(scaled, -_LONGEST, _LONGEST))
    plain = np.ones(len(u), bool)
    plain[stuck.any(axis=1)] = False
    plain[rest] = False
    return np.where(stuck, 0.0, step), plain


def _search_line(backend, batch, prior, u, step, slope, objective):
    """Return points along the steps that are good enough (a problem without one stays put)."""
    accepted, share = u.copy(), 0.5
    left = np.arange(len(u))
    for _ in range(_HALVINGS):
        trial = np.clip(u[left] + share * step[left], *BOX)
        value = backend.log_likelihood(batch.take(left), trial) + prior.terms(trial)[0]
        good = value >= objective[left] + _SUFFICIENT * share * slope[left]
        accepted[left[good]] = trial[good]
        left = left[~good]
        share *= 0.5
        if len(left) == 0:
            break
    return accepted


class _Climb(NamedTuple):
    """Where Newton's method has ended."""

    parameters: np.ndarray
    objective: np.ndarray
    value: np.ndarray
    hessian: np.ndarray
    doubtful: np.ndarray


def _climb(backend, batch, start, prior, modes_only):
    """Maximise every problem's posterior density from ``start``.

    With ``modes_only`` the last step is taken without looking where it leads: what is left after a
    step of Newton's goes with the square of what was left before. Otherwise the last step is too
    short to matter; its promised gain is added, and value and Hessian stay those before it.
    """
    u = np.clip(start, *BOX)
    objective, value, gradient, hessian = _evaluate(backend, batch, u, prior)
    settled = ~np.isfinite(objective)
    lost = settled.copy()
    gained = np.zeros(len(u))
    for _ in range(_MOST_STEPS):
        active = np.flatnonzero(~settled)
        if len(active) == 0:
            break
        step, plain = _direction(gradient[active], hessian[active], u[active])
        slope = np.einsum("bi,bi->b", gradient[active], step)
        done = 0.5 * slope < _DECREMENT
        if modes_only:
            done |= plain & (0.5 * slope < _LAST_DECREMENT)
            u[active[done]] = np.clip(u[active[done]] + step[done], *BOX)
        gained[active[done]] = np.maximum(0.5 * slope[done], 0.0)
        settled[active[done]] = True
        active, step, slope = active[~done], step[~done], slope[~done]
        if len(active) == 0:
            break
        part = batch.take(active)
        trial = np.clip(u[active] + step, *BOX)
        found = _evaluate(backend, part, trial, prior)
        good = found[0] >= objective[active] + _SUFFICIENT * slope
        if not good.all():
            bad = np.flatnonzero(~good)
            trial[bad] = _search_line(
                backend, part.take(bad), prior, u[active[bad]], step[bad], slope[bad],
                objective[active[bad]],
            )  # fmt: skip
            stayed = active[bad[(trial[bad] == u[active[bad]]).all(axis=1)]]
            settled[stayed] = True
            lost[stayed] = True
            again = _evaluate(backend, part.take(bad), trial[bad], prior)
            for whole, piece in zip(found, again, strict=True):
                whole[bad] = piece
        u[active] = trial
        objective[active], value[active], gradient[active], hessian[active] = found
    return _Climb(u, objective + gained, value, hessian, ~settled | lost)


def find_modes(
    backend: Backend, batch: Batch, start: np.ndarray, prior: ParameterPrior
) -> np.ndarray:
    """Return the parameters [B, m] that maximise every problem's posterior density."""
    return _climb(backend, batch, start, prior, True).parameters


def fit_batch(backend: Backend, batch: Batch, start: np.ndarray, prior: ParameterPrior) -> Fits:
    """Maximise every problem's posterior density from ``start``, and integrate it there."""
    u, objective, value, hessian, doubtful = _climb(backend, batch, start, prior, False)
    values, vectors = np.linalg.eigh(hessian)
    floored = np.maximum(values, _EIGENVALUE_FLOOR)
    determinant = np.log(floored).sum(axis=1)
    evidence = objective + 0.5 * u.shape[1] * math.log(2.0 * math.pi) - 0.5 * determinant
    return Fits(
        parameters=u,
        log_likelihood=value,
        log_evidence=np.where(np.isfinite(objective), evidence, -np.inf),
        hessian=np.einsum("bij,bj,bkj->bik", vectors, floored, vectors),
        doubtful=doubtful | (values < _EIGENVALUE_FLOOR).any(axis=1),
    )


def _evaluate(backend, batch, u, prior):
    """Return objective, log-likelihood, gradient and H at u."""
    value, gradient, second = backend.derivatives(batch, u)
    log_prior, prior_gradient, curvature = prior.terms(u)
    hessian = -second
    places = np.arange(u.shape[1])
    hessian[:, places, places] += curvature
    return [value + log_prior, value, gradient + prior_gradient, hessian]

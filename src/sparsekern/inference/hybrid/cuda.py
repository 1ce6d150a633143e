"""The torch backend: whole batches at a time, in double precision, on a CUDA device.

The formulas are those of :mod:`.compiled`. Problems are cut into chunks that fit in the memory
allowed. It runs on torch's CPU device as well, which is how it is tested without a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from ..feature_search.pairs import Block
from ._contract import JITTERS, Batch, GaussianResponse
from .fused import open_fused_toggles
from .torch_kernels import distances, kernel_derivatives, kernel_of_sums
from .torch_pairs import blocks_of_pairs

_LOG_2PI = math.log(2.0 * math.pi)
_MATRICES = 12  # of n x n numbers that one problem needs at the most, per bandwidth


class _Toggles(NamedTuple):
    """One problem and the changes of its features, on the device."""

    base: Any  # float64[n, n], sums of the features in it
    columns: Any  # float64[p, n]
    target: Any  # float64[n]
    changes: Any  # int64[t, 2], feature that leaves and one that comes, 0 for none
    weights: Any  # float64[t, 3], of the base, of what leaves and of what comes
    scales: Any  # float64[2], amplitude and noise
    kind: int  # code of the kernel


def cuda_is_available() -> bool:
    """Tell whether torch sees a CUDA device."""
    return bool(torch.cuda.is_available())


class CudaBackend(GaussianResponse):
    """Compute with torch.

    Parameters
    ----------
    memory_limit : float
        Gigabytes that may be held at a time.
    device : str
    """

    together = 64

    def __init__(self, memory_limit: float = 4.0, device: str = "cuda") -> None:
        self.memory_limit, self.device, self.workers = memory_limit, device, -1
        self._columns: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_columns": (None, None)}

    def _send(self, array: np.ndarray) -> Any:
        return torch.as_tensor(np.ascontiguousarray(array), device=self.device)

    def _data(self, batch: Batch) -> Any:
        """Return the columns on the device; sent once for each data set."""
        if self._columns[0] is not batch.columns:
            self._columns = (batch.columns, self._send(batch.columns))
        return self._columns[1]

    def blocks_of_pairs(self, polynomials: np.ndarray, weighted: np.ndarray, count: int) -> Block:
        """Return what looks for pairs."""
        return blocks_of_pairs(self._send(polynomials), self._send(weighted), count)

    def _chunks(self, total: int, n: int, matrices: int) -> Iterator[slice]:
        numbers = self.memory_limit * 2**30 / 8
        step = max(1, int(numbers / (max(1, matrices) * n * n)))
        for first in range(0, total, step):
            yield slice(first, min(first + step, total))

    # pieces

    def _values(self, batch: Batch, part: slice) -> Any:
        """Return the features of problems at their rows, [b, s, n], and a mask [b, s]."""
        columns = self._data(batch)
        features = self._send(batch.features[part])
        rows = self._send(batch.rows if len(batch.rows) == 1 else batch.rows[part])
        values = columns[features[:, :, None], rows[:, None, :]]
        places = torch.arange(features.shape[1], device=self.device)
        return values, places[None] < self._send(batch.counts[part])[:, None]

    def _rates(self, batch: Batch, u: Any, mask: Any) -> Any:
        """Return 1/tau of every feature, zero where there is none, [b, s]."""
        if u.shape[1] == 2:
            return torch.zeros(mask.shape, dtype=u.dtype, device=self.device)
        scales = torch.exp(-u[:, 1:-1])
        if batch.shared:
            scales = scales.expand(-1, mask.shape[1])
        elif scales.shape[1] < mask.shape[1]:
            scales = torch.nn.functional.pad(scales, (0, mask.shape[1] - scales.shape[1]))
        return torch.where(mask, scales, torch.zeros_like(scales))

    def _sums(self, values: Any, others: Any, rates: Any, kind: int) -> Any:
        total = 0.0
        for place in range(values.shape[1]):
            part = distances(values[:, place], others[:, place], kind)
            total = total + rates[:, place, None, None] * part
        return total

    def _factor(self, kernel: Any, amplitude: Any, noise: Any) -> tuple[Any, Any]:
        """Return the factors of C and which of them exist."""
        matrix = amplitude[:, None, None] * kernel
        matrix.diagonal(dim1=1, dim2=2).add_(noise[:, None])
        root, info = torch.linalg.cholesky_ex(matrix)
        for before, jitter in zip((0.0, *JITTERS), JITTERS, strict=False):
            bad = torch.nonzero(info).ravel()
            if len(bad) == 0:
                break
            again = matrix[bad]
            again.diagonal(dim1=1, dim2=2).add_(((jitter - before) * amplitude[bad])[:, None])
            matrix[bad] = again
            root[bad], info[bad] = torch.linalg.cholesky_ex(again)
        return root, info == 0

    @staticmethod
    def _log_density(root: Any, target: Any) -> Any:
        solved = torch.linalg.solve_triangular(root, target[:, :, None], upper=False)[:, :, 0]
        logs = torch.log(root.diagonal(dim1=1, dim2=2)).sum(dim=1)
        return -0.5 * solved.square().sum(dim=1) - logs - 0.5 * root.shape[1] * _LOG_2PI

    def _targets(self, batch: Batch, part: slice, count: int) -> Any:
        if len(batch.targets) == 1:
            return self._send(batch.targets).expand(count, -1)
        return self._send(batch.targets[part])

    # the contract

    def log_likelihood(self, batch: Batch, parameters: np.ndarray) -> np.ndarray:
        """Return l(u) of every problem."""
        out = np.empty(batch.size)
        for part in self._chunks(batch.size, batch.rows.shape[1], 4):
            u = self._send(parameters[part])
            values, mask = self._values(batch, part)
            sums = self._sums(values, values, self._rates(batch, u, mask), batch.kind)
            kernel = kernel_of_sums(sums, batch.kind)
            root, good = self._factor(kernel, torch.exp(u[:, 0]), torch.exp(u[:, -1]))
            value = self._log_density(root, self._targets(batch, part, len(u)))
            out[part] = torch.where(good, value, -math.inf).cpu().numpy()
        return out

    def toggles(
        self, batch: Batch, parameters: np.ndarray, changes: np.ndarray, bandwidth: float
    ) -> np.ndarray:
        """Return l(u) of the first problem with features removed and added.

        By one kernel for everything where there is Triton; what that does not factor, and all
        where there is none, by torch.
        """
        u = self._send(parameters[None])
        values, mask = self._values(batch, slice(0, 1))
        rates = self._rates(batch, u, mask)
        base = self._sums(values, values, rates, batch.kind)[0]
        count = int(batch.counts[0])
        rate_of = np.zeros(len(batch.columns))
        rate_of[batch.features[0, :count]] = rates[0, :count].cpu().numpy()
        leaves, comes = changes[:, 0] >= 0, changes[:, 1] >= 0
        keep = count > leaves  # nothing but rounding would be left of the base
        lost = np.where(leaves & keep, rate_of[changes[:, 0]], 0.0)
        gained = np.where(comes, math.exp(-bandwidth), 0.0)
        columns, rows = self._data(batch), batch.rows[0]
        if not np.array_equal(rows, np.arange(columns.shape[1])):
            columns = columns[:, self._send(rows)]
        problem = _Toggles(
            base, columns, self._send(batch.targets[0]), self._send(np.maximum(changes, 0)),
            self._send(np.column_stack([keep, lost, gained])), torch.exp(u[0, [0, -1]]), batch.kind,
        )  # fmt: skip
        fused = open_fused_toggles(self.device, len(base))
        if fused is None:
            return self._toggle(problem, np.arange(len(changes)))
        out = fused(*problem, self.memory_limit).cpu().numpy()
        bad = np.flatnonzero(~np.isfinite(out))
        if len(bad):
            out[bad] = self._toggle(problem, bad)
        return out

    def _toggle(self, problem: _Toggles, chosen: np.ndarray) -> np.ndarray:
        """Return l(u) after some of the changes of a problem, by torch."""
        out = np.empty(len(chosen))
        n = len(problem.target)
        for part in self._chunks(len(chosen), n, 5):
            at = self._send(chosen[part])
            weights = problem.weights[at]
            sums = weights[:, 0, None, None] * problem.base
            for side, sign in ((0, -1.0), (1, 1.0)):
                there = torch.nonzero(weights[:, 1 + side]).ravel()
                column = problem.columns[problem.changes[at[there], side]]
                rate = sign * weights[there, 1 + side]
                sums[there] += rate[:, None, None] * distances(column, column, problem.kind)
            kernel = kernel_of_sums(sums.clamp_(min=0.0), problem.kind)
            amplitude, noise = problem.scales.expand(len(at), 2).T
            root, good = self._factor(kernel, amplitude, noise)
            value = self._log_density(root, problem.target.expand(len(at), -1))
            out[part] = torch.where(good, value, -math.inf).cpu().numpy()
        return out

    def derivatives(
        self, batch: Batch, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return l(u), its gradient and its Hessian."""
        count, m = parameters.shape
        out = np.empty(count), np.empty((count, m)), np.empty((count, m, m))
        matrices = _MATRICES * max(1, m - 2)
        for part in self._chunks(count, batch.rows.shape[1], matrices):
            found = self._differentiate(batch, part, self._send(parameters[part]))
            for whole, piece in zip(out, found, strict=True):
                whole[part] = piece.cpu().numpy()
        return out

    def _differentiate(self, batch: Batch, part: slice, u: Any) -> tuple[Any, Any, Any]:
        count, m = u.shape
        amplitude, noise = torch.exp(u[:, 0]), torch.exp(u[:, -1])
        values, mask = self._values(batch, part)
        rates = self._rates(batch, u, mask)
        n = values.shape[2]
        pieces = [
            rates[:, place, None, None] * distances(values[:, place], values[:, place], batch.kind)
            for place in range(values.shape[1])
        ]
        sums = torch.stack(pieces).sum(dim=0)
        groups = ([sums] if batch.shared else pieces)[: m - 2]
        kernel, first, second = kernel_derivatives(sums, batch.kind)
        root, good = self._factor(kernel, amplitude, noise)
        target = self._targets(batch, part, count)
        value = torch.where(good, self._log_density(root, target), -math.inf)
        root = torch.where(good[:, None, None], root, torch.eye(n, dtype=u.dtype, device=u.device))
        inverse = torch.cholesky_inverse(root)
        alpha = (inverse @ target[:, :, None])[:, :, 0]
        weight = alpha[:, :, None] * alpha[:, None, :] - inverse
        covariance = amplitude[:, None, None] * kernel
        slope_factor = -amplitude[:, None, None] * first
        slopes = [group * slope_factor for group in groups]
        products = [inverse @ slope for slope in slopes]
        gradient = torch.zeros((count, m), dtype=u.dtype, device=u.device)
        hessian = torch.zeros((count, m, m), dtype=u.dtype, device=u.device)
        trace = inverse.diagonal(dim1=1, dim2=2).sum(dim=1)
        square = inverse.square().sum(dim=(1, 2))
        gradient[:, 0] = 0.5 * (weight * covariance).sum(dim=(1, 2))
        gradient[:, -1] = 0.5 * noise * (alpha.square().sum(dim=1) - trace)
        for g, slope in enumerate(slopes):
            gradient[:, 1 + g] = 0.5 * (weight * slope).sum(dim=(1, 2))
        hessian[:, 0, 0] = gradient[:, 0] + 0.5 * (n - 2 * noise * trace + noise**2 * square)
        hessian[:, -1, -1] = gradient[:, -1] + 0.5 * noise**2 * square
        hessian[:, -1, 0] = 0.5 * noise * (trace - noise * square)
        for g, product in enumerate(products):
            own = product.diagonal(dim1=1, dim2=2).sum(dim=1)
            with_inverse = (inverse * product).sum(dim=(1, 2))
            hessian[:, 1 + g, 0] = gradient[:, 1 + g] + 0.5 * (own - noise * with_inverse)
            hessian[:, -1, 1 + g] = 0.5 * noise * with_inverse
            for h in range(g + 1):
                bend = groups[g] * (groups[h] * (amplitude[:, None, None] * second))  # may be huge
                if g == h:
                    bend = bend - slopes[g]
                total = (product * products[h].transpose(1, 2)).sum(dim=(1, 2))
                hessian[:, 1 + g, 1 + h] = 0.5 * (weight * bend).sum(dim=(1, 2)) + 0.5 * total
        moved = [target - noise[:, None] * alpha]
        moved += [(slope @ alpha[:, :, None])[:, :, 0] for slope in slopes]
        moved.append(noise[:, None] * alpha)
        vectors = torch.stack(moved, dim=2)
        hessian -= torch.tril(vectors.transpose(1, 2) @ inverse @ vectors)
        hessian = torch.tril(hessian) + torch.tril(hessian, -1).transpose(1, 2)
        gradient[~good], hessian[~good] = 0.0, 0.0
        return value, gradient, hessian

    def predict(
        self, batch: Batch, parameters: np.ndarray, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of f at new points."""
        count, draws, _ = parameters.shape
        means = np.empty((count, draws, points.shape[1]))
        variances = np.empty_like(means)
        n = batch.rows.shape[1]
        each = 3 + 3 * math.ceil(points.shape[1] / n)
        for part in self._chunks(count, n, each):
            values, mask = self._values(batch, part)
            there = self._send(points[part]).transpose(1, 2)[:, : values.shape[1]]
            target = self._targets(batch, part, len(values))
            for t in range(draws):
                u = self._send(parameters[part, t])
                rates = self._rates(batch, u, mask)
                amplitude, noise = torch.exp(u[:, 0]), torch.exp(u[:, -1])
                kernel = kernel_of_sums(self._sums(values, values, rates, batch.kind), batch.kind)
                root, good = self._factor(kernel, amplitude, noise)
                cross = kernel_of_sums(self._sums(values, there, rates, batch.kind), batch.kind)
                both = torch.cat([target[:, :, None], cross], dim=2)
                solved = torch.linalg.solve_triangular(root, both, upper=False)
                mean = (solved[:, :, :1] * solved[:, :, 1:]).sum(dim=1)
                explained = solved[:, :, 1:].square().sum(dim=1)
                scale = amplitude[:, None]
                variance = (scale - scale**2 * explained).clamp(min=0.0)
                means[part, t] = torch.where(good[:, None], scale * mean, math.nan).cpu().numpy()
                variances[part, t] = torch.where(good[:, None], variance, math.nan).cpu().numpy()
        return means, variances

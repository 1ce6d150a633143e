"""Which backend computes."""

from __future__ import annotations

from ._contract import Backend
from .cpu import CpuBackend


def open_backend(device: str, n_jobs: int | None, memory_limit: float) -> Backend:
    """Return the backend for ``device``.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        ``"auto"`` is CUDA where torch sees a device of it, else the CPU.
    n_jobs : int or None
        Threads of the CPU.
    memory_limit : float
        Gigabytes that a device may hold at a time.
    """
    if device == "cpu":
        return CpuBackend(n_jobs)
    try:
        from .cuda import CudaBackend, cuda_is_available
    except ImportError:
        if device == "cuda":
            raise ImportError(
                "device='cuda' needs torch; install it with pip install 'sparsekern[gpu]', or use "
                "device='cpu'."
            ) from None
        return CpuBackend(n_jobs)
    if cuda_is_available():
        return CudaBackend(memory_limit)
    if device == "cuda":
        raise RuntimeError(
            "device='cuda' was asked for, but torch sees no CUDA device; use device='cpu' or "
            "device='auto'."
        )
    return CpuBackend(n_jobs)

"""Fit the motorcycle data with 21 kernels and draw the picture of the guide.

Run ``python examples/multiple_kernels.py folder [file]``; the folder holds ``mcycle.npz`` with the
arrays ``X`` (times) and ``y`` (accelerations) of Silverman's motorcycle data.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.gaussian_process.kernels import RBF

from sparsekern import BayesianMKLRegressor
from sparsekern.datasets import load
from sparsekern.plotting import plot_fit, plot_kernel_weights
from sparsekern.settings import MKLRegressionPriors

PICTURE = Path(__file__).parents[1] / "docs" / "guide" / "multiple_kernels.png"
POWERS = range(-10, 11)


def main(folder: str, file: Path) -> None:
    matplotlib.use("Agg")
    data = load("mcycle", folder)
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    y = (data.target - data.target.mean()) / data.target.std()
    kernels = [RBF(2.0**power) for power in POWERS]
    models = {
        "one vector per kernel": BayesianMKLRegressor(kernels, random_state=0),
        "shared vector, sparse": BayesianMKLRegressor(
            kernels,
            vectors="shared",
            priors=MKLRegressionPriors(sample_sparsity=True),
            max_iter=4000,
            random_state=0,
        ),
    }
    figure, axes = plt.subplots(2, 2, figsize=(12.0, 7.2), layout="constrained")
    for row, (name, model) in zip(axes, models.items(), strict=True):
        model.fit(X, y)
        plot_fit(model, X, y, ax=row[0])
        row[0].set(title=name, xlabel="time", ylabel="acceleration")
        plot_kernel_weights(model, [str(power) for power in POWERS], ax=row[1])
        row[1].set_xlabel("log2 of the length scale")
        error = np.sqrt(np.mean((model.predict(X) - y) ** 2))
        used = np.flatnonzero(model.kernel_shares_ > 0.01) + POWERS[0]
        print(f"{name}: rmse {error:.3f}, {len(model.active_vectors_)} samples, widths 2^{used}")
    figure.set_dpi(72)
    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    picture.quantize(200).save(file, optimize=True)  # a third of the size of all colours


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else PICTURE)

"""Draw the boundaries of two vector machines on two spirals and on two overlapping Gaussians.

Run ``python examples/vector_machines.py [file]``; it writes the picture of the guide.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from sparsekern import PCVMClassifier, RVMClassifier
from sparsekern.datasets import make_overlapping_gaussians, make_spirals
from sparsekern.plotting import plot_decision_surface

PICTURE = Path(__file__).parents[1] / "docs" / "guide" / "vector_machines.png"


def main(file: Path) -> None:
    matplotlib.use("Agg")
    figure, axes = plt.subplots(2, 2, figsize=(12.0, 9.2), layout="constrained")
    data = {"Spiral": make_spirals, "Overlap": make_overlapping_gaussians}
    for row, (name, make) in zip(axes, data.items(), strict=True):
        X, y = make(200, random_state=0)
        for ax, machine in zip(row, (PCVMClassifier(), RVMClassifier()), strict=True):
            machine.fit(X, y)
            plot_decision_surface(machine, X, y, ax=ax)
            ax.set_xlabel(f"{name}, {type(machine).__name__}")
            print(
                f"{name:8}{type(machine).__name__:16}{len(machine.active_vectors_):3} vectors, "
                f"leave-one-out error {machine.loo_error_:.1%}"
            )
    figure.set_dpi(72)
    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    picture.quantize(200).save(file, optimize=True)  # a third of the size of all colours


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)

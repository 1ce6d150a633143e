"""Words about the laws of a response; see :mod:`.documentation`."""

from __future__ import annotations

NOISE_PARAGRAPHS = {
    "search noise parameter": """\
noise : str, default="gaussian"
    Law of the response: ``"gaussian"``, ``"student_t"``, ``"laplace"``, ``"poisson"`` or
    ``"negative_binomial"``. All but the first go through an inner Laplace approximation; the
    last two are for counts, whose log mean is the function.
offset : str, int or None, default=None
    Column of X, by name or position, that holds the exposure of counts: its logarithm is added
    to the function, and it is no feature of the kernel.""",
    "noise parameter": r"""noise : str, default="gaussian"
    Law of the response given the function f: ``"gaussian"``; ``"student_t"``, which
    bears outliers, and ``"laplace"``, between the two; for counts of mean :math:`e^f`,
    ``"poisson"`` or ``"negative_binomial"`` (variance :math:`e^f+\alpha e^{2f}`, the dispersion
    :math:`\alpha` learned). Counts are not scaled, f has the logarithm of their mean as an
    offset, and predictions are those of counts.
offset : str, int or None, default=None
    Column of X, by name or position, that holds the exposure of counts: its logarithm is added
    to f, and it is no feature of the kernel.""",
}

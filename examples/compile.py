"""Compile every sampler into the disk cache, so that no fit has to wait for it later."""

from sparsekern import GKMClassifier, GKMRegressor

X, SHORT = [[0.0], [1.0], [2.0]], {"draws": 2, "tune": 2, "chains": 1, "progress": False}

for likelihood in ("probit", "logit", "hinge"):
    GKMClassifier(likelihood=likelihood, **SHORT).fit(X, [0, 1, 1])
GKMClassifier(**SHORT).fit(X, [0, 1, 2])  # more than two classes
for noise in ("gaussian", "student_t"):
    GKMRegressor(noise=noise, **SHORT).fit(X, [0.0, 1.0, 1.5])

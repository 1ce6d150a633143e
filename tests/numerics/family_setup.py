"""Samplers of any likelihood on small data, and their joint law with simulated responses."""

import numpy as np
from dense_model import draw_prior

from sparsekern.inference.chains.plan import Plan
from sparsekern.inference.generalized_kernel.sampler import GeneralizedKernelSampler
from sparsekern.inference.moves.length_scale import FIXED
from sparsekern.kernels import resolve_kernels
from sparsekern.likelihoods._augmented import renew_working
from sparsekern.model import generalized_kernel_model

PRIOR = (3.0, 1.5, 3.0, 2.0)
NOISE_PRIOR = (3.0, 2.0)
JITTER = 0.05


def make_sampler(likelihood, features, response, **options):
    """Return a sampler with informative priors, as Geweke's test wants them."""
    defaults = {
        "kernel": "rbf", "length_scale": 1.0, "largest": 4, "prior": PRIOR, "jitter": JITTER,
        "zero_probability": 0.3, "width_mode": FIXED, "moves": 3, "joint_moves": 3, "scans": 2,
        "candidates": None, "noise_prior": NOISE_PRIOR,
    }  # fmt: skip
    chosen = defaults | options
    prior = chosen["prior"]
    model = generalized_kernel_model(
        likelihood,
        resolve_kernels(chosen["kernel"], chosen["length_scale"], features),
        scale_prior=prior[:2],
        intercept_prior=prior[2:],
        size_prior=(1.0, 1.0),
        max_active=chosen["largest"],
        sparse=True,
        jitter=chosen["jitter"],
        zero_probability=chosen["zero_probability"],
        noise_prior=chosen["noise_prior"] if "learned noise" in likelihood.provides else None,
    )
    return GeneralizedKernelSampler(
        model, np.asfortranarray(features), np.asarray(response, dtype=float),
        candidates=chosen["candidates"], width_mode=chosen["width_mode"],
        width_bounds=(0.4, 2.5), moves=chosen["moves"], scans=chosen["scans"],
        joint_moves=chosen["joint_moves"],
    )  # fmt: skip


def run(sampler, draws, tune=0, seed=0, thin=1):
    """Run one chain; return its draws and its state."""
    plan = Plan(tune, draws, thin)
    rngs = tuple(np.random.Generator(np.random.PCG64([seed, i])) for i in range(2))
    state, kept = sampler.start(rngs[0], 0), sampler.allocate(plan)
    sampler.advance(rngs, state, sampler.open(state), kept, plan.sweeps, plan, True)
    return kept, state


def simulate(rng, likelihood, fitted, variance, parameters):
    """Draw responses given the function."""
    if likelihood.name in ("probit", "logit"):
        return np.where(rng.random(fitted.shape) < likelihood.mean(fitted), 1.0, -1.0)
    return likelihood.sample(rng, fitted, variance, parameters[:, None, :])


def alternate(likelihood, features, sweeps, seed, **options):
    """Alternate sweeps and fresh responses; return everything, as the prior does below."""
    n = len(features)
    rng = np.random.default_rng(seed)
    sampler = make_sampler(likelihood, features, np.where(np.arange(n) % 2, 1.0, -1.0), **options)
    plan = Plan(0, sweeps, 1)
    rngs = tuple(np.random.Generator(np.random.PCG64([seed, i])) for i in range(2))
    state, draws = sampler.start(rngs[0], 0), sampler.allocate(plan)
    state.site_counts[1] = 1  # as if tuned: any sites are valid ones
    state.sites[1] = 0.3
    work = sampler.open(state)
    labels = hasattr(work.data, "side")
    target = work.data.side if labels else work.data.response
    fitted, response = np.empty((sweeps, n)), np.empty((sweeps, n))
    for t in range(sweeps):
        sampler.advance(rngs, state, work, draws, t + 1, plan, t == 0)
        fitted[t] = work.functions[0]
        response[t] = simulate(
            rng, likelihood, fitted[t][None], draws.noise_variance[t], state.parameters[None]
        )[0]
        target[:] = response[t]
        if not labels:
            work.factor.response[0] = response[t]
        renew_working(work.data, rngs[0], work.factor, work.functions[0], False)
    active, beta = np.zeros((sweeps, n), bool), np.zeros((sweeps, n))
    for t in range(sweeps):
        rows = draws.rows[t, : draws.n_active[t]]
        active[t, rows] = True
        beta[t, rows] = draws.coefficients[t, 0, : len(rows)]
    return {
        "active": active, "beta": beta, "intercept": draws.intercept[:, 0],
        "eta": 1 / draws.variances[:, 0], "g": 1 / draws.variances[:, 1],
        "variance": draws.noise_variance, "fitted": fitted, "response": response,
        "parameters": draws.parameters,
    }  # fmt: skip


def from_prior(likelihood, features, count, seed, largest=4):
    """Draw parameters and responses from the prior, in plain NumPy."""
    rng = np.random.default_rng(seed)
    prior = draw_prior(rng, count, features, PRIOR, JITTER, largest, (1.0, 1.0))
    variance = np.ones(count)
    if "learned noise" in likelihood.provides:
        variance = NOISE_PRIOR[1] / rng.standard_gamma(NOISE_PRIOR[0], count)
    deviation = np.sqrt(variance)
    parameters = np.tile(likelihood.start_parameters(), (count, 1))
    if len(getattr(likelihood, "degrees", ())) > 1:
        parameters = rng.choice(likelihood.degrees, (count, 1))
    fitted = prior["fitted"] * deviation[:, None]
    return {
        "active": prior["active"], "beta": prior["beta"] * deviation[:, None],
        "intercept": prior["intercept"] * deviation, "eta": prior["eta"], "g": prior["g"],
        "variance": variance, "fitted": fitted, "parameters": parameters,
        "response": simulate(rng, likelihood, fitted, variance[:, None], parameters),
    }  # fmt: skip


def functionals(sample):
    """Bounded or light-tailed functions of everything, with products across blocks."""
    size = sample["active"].sum(1).astype(float)
    log_g, log_eta, log_v = (np.log(sample[name]) for name in ("g", "eta", "variance"))
    fitted, response = sample["fitted"], sample["response"]
    squares = np.log1p((fitted**2).sum(1))
    misfit = np.log1p(((response - fitted) ** 2).sum(1))
    found = {
        "k": size, "k^2": size**2, "first active": sample["active"][:, 0].astype(float),
        "pair active": (sample["active"][:, 1] & sample["active"][:, 2]).astype(float),
        "log g": log_g, "log^2 g": log_g**2, "log eta": log_eta, "log^2 eta": log_eta**2,
        "log v": log_v, "log^2 v": log_v**2, "log g log v": log_g * log_v, "k log g": size * log_g,
        "k log v": size * log_v, "u": np.arctan(sample["intercept"]),
        "u^2": np.log1p(sample["intercept"] ** 2), "b1": np.arctan(sample["beta"][:, 0]),
        "b^2": np.log1p((sample["beta"] ** 2).sum(1)), "f^2": squares, "f^2 k": squares * size,
        "f^2 log g": squares * log_g, "misfit": misfit, "misfit log v": misfit * log_v,
        "y1 y2": np.arctan(response[:, 0] * response[:, 1]),
        "y1 f1": np.arctan(response[:, 0] * fitted[:, 0]), "y^2": np.log1p((response**2).sum(1)),
    }  # fmt: skip
    for j in range(sample["parameters"].shape[1]):
        value = np.log(sample["parameters"][:, j])
        found |= {f"log nu{j}": value, f"nu{j} misfit": value * misfit}
    return found

"""Functionals of the joint law of parameters and data, for Geweke-type tests."""

import numpy as np


def reduced(sample):
    """Functionals of (active set, length scales, g, eta, s): what the collapsed moves change."""
    active = sample["active"].astype(float)
    size = active.sum(1)
    scale, latent = sample["scale"], sample["latent"]
    log_g, log_eta = np.log(sample["g"]), np.log(sample["eta"])
    length = np.log(1 + (latent**2).sum(1))
    return {
        "k": size,
        "k^2": size**2,
        "first row active": active[:, 0],
        "two rows active": active[:, 1] * active[:, 2],
        "scale": scale[:, 0],
        "scale^2": scale[:, 0] ** 2,
        "last scale": scale[:, -1],
        "product of scales": scale[:, 0] * scale[:, -1],
        "log g": log_g,
        "log^2 g": log_g**2,
        "log eta": log_eta,
        "log^2 eta": log_eta**2,
        "length of s": length,
        "sign sum": np.abs(np.sign(latent).sum(1)),
        "s1 s2": np.arctan(latent[:, 0] * latent[:, 1]),
        "mean of s": np.log(1 + latent.mean(1) ** 2),
        "k log g": size * log_g,
        "log g log eta": log_g * log_eta,
        "length log g": length * log_g,
        "length k": length * size,
        "length scale": length * scale[:, 0],
        "active s": np.arctan((active * latent**2).sum(1)),
    }


def complete(sample, features, jitter):
    """The same with the coefficients, as draw_prior and the chain both record them."""
    active, beta, intercept = sample["active"], sample["beta"], sample["intercept"]
    fitted, latent = sample["fitted"], sample["latent"]
    squares = (features[:, None, :] - features[None, :, :]) ** 2
    kernel = np.exp(-0.5 * np.einsum("ijl,tl->tij", squares, sample["scale"] ** -2.0))
    energy = np.einsum("ti,tij,tj->t", beta, kernel, beta) + jitter * (beta**2).sum(1)
    return reduced(sample) | {
        "u": np.arctan(intercept),
        "u^2": np.log(1 + intercept**2),
        "eta u^2": sample["eta"] * intercept**2,
        "g b'Kb": sample["g"] * energy,
        "b'Kb": np.log(1 + energy),
        "k b'Kb": active.sum(1) * np.log(1 + energy),
        "b1": np.arctan(beta[:, 0]),
        "b1 b2": np.arctan(beta[:, 0] * beta[:, 1]),
        "f1": np.log(1 + fitted[:, 0] ** 2),
        "f1 s1": np.arctan(fitted[:, 0] * latent[:, 0]),
        "y1": sample["side"][:, 0],
        "y1 y2": sample["side"][:, 0] * sample["side"][:, 1],
        "y1 f1": sample["side"][:, 0] * np.arctan(fitted[:, 0]),
    }


def stack(functionals):
    """Return names and the matrix with one column per functional, constant ones left out."""
    names = [name for name, values in functionals.items() if np.ptp(values) > 0]
    return names, np.column_stack([functionals[name] for name in names])


def report(names, scores):
    worst = np.argmax(np.abs(scores))
    return f"max|z| {abs(scores[worst]):.2f} ({names[worst]}) of {len(names)} functionals"

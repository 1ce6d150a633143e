r"""Moves of the coefficients of all classes at once, given scales and precisions.

*Trajectory.* The log density :math:`\log L(y|z)-\frac12\sum d_{lk}\beta_{lk}^2`, with
:math:`d_{lk}` the prior precision, has the gradient
:math:`\sum_iP_{il}[1(y_i=k)-p_{ik}]-d_{lk}\beta_{lk}`, a product :math:`P'Z` like any other. With
momenta :math:`r_{lk}\sim N(0,M_{lk})` a path of leapfrog steps ends in a proposal that is accepted
by the change of energy. Components are orthogonal, so a diagonal

.. math:: M_{lk}=d_{lk}+h_{lk},\qquad h_{lk}\approx E\sum_iP_{il}^2p_{ik}(1-p_{ik})

makes all directions about equally wide; a path of a quarter of a turn, give or take a half of it at
random, then ends far from where it began. h and the step are found while tuning and stay fixed
afterwards; d may change between paths, as no path moves it.

*Translation.* Softmax does not see what all classes share, so given the contrasts the common part
of a component's coefficients has its prior law: with symmetric classes,
:math:`\beta_{lk}\to\beta_{lk}+\delta_l`,
:math:`\delta_l\sim N(-\sum_kd_{lk}\beta_{lk}/\sum_kd_{lk},\ 1/\sum_kd_{lk})`. Trajectories, made to
the measure of the likelihood, would drift through it slowly, and scales depend on it.

Coefficients that selection holds at zero stay there.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import jit, jit_apart
from ...linalg.copies import copy_matrix
from .moves import prior_precision

_ACCEPTANCE = 0.8  # what the step is tuned to: long paths are wasted if refused
_LENGTH = 0.5 * math.pi
_MOST_STEPS = 50


@jit
def class_probabilities(latent, labels, reference, out):
    """Write class probabilities, classes by row; return the log probability of all labels."""
    classes, n = latent.shape
    total = 0.0
    for i in range(n):
        top = 0.0 if reference else latent[0, i]
        for k in range(classes):
            top = max(top, latent[k, i])
        mass = math.exp(-top) if reference else 0.0
        for k in range(classes):
            out[k, i] = math.exp(latent[k, i] - top)
            mass += out[k, i]
        for k in range(classes):
            out[k, i] /= mass
        own = latent[labels[i], i] if labels[i] < classes else 0.0
        total += own - top - math.log(mass)
    return total


@jit_apart
def _learn_curvature(state, work, settings):
    """Follow the information of the data about each coefficient, at the probabilities at hand."""
    classes, m = state.coefficients.shape
    weight = (state.sweep[0] + 2.0) ** -0.6
    for k in range(classes):
        for a in range(m):
            information = 0.0
            for i in range(settings.labels.shape[0]):
                share = work.rows[k, i]
                information += settings.design[a, i] ** 2 * share * (1.0 - share)
            state.curvature[k, a] += weight * (information - state.curvature[k, a])


@jit
def _find_gradient(work, settings):
    """Turn class probabilities into the gradient of minus the log-likelihood."""
    for i in range(settings.labels.shape[0]):
        if settings.labels[i] < work.rows.shape[0]:
            work.rows[settings.labels[i], i] -= 1.0
    np.dot(work.rows, settings.design.T, work.gradient)


@jit
def push(work, step):
    """Change momenta along the gradient."""
    classes, m = work.momentum.shape
    for k in range(classes):
        for a in range(m):
            slope = work.gradient[k, a] + work.precision[k, a] * work.trial[k, a]
            work.momentum[k, a] -= step * slope


@jit
def energy(work, log_likelihood):
    """Return minus the log density of trial coefficients and momenta."""
    classes, m = work.momentum.shape
    total = -log_likelihood
    for k in range(classes):
        for a in range(m):
            total += 0.5 * work.precision[k, a] * work.trial[k, a] ** 2
            total += 0.5 * work.momentum[k, a] ** 2 * work.velocity[k, a]
    return total


@jit
def _start(rng, state, work, settings):
    """Draw momenta; ``work.velocity`` is the inverse of M, zero where nothing may move."""
    classes, m = state.coefficients.shape
    for k in range(classes):
        for a in range(m):
            prior = prior_precision(state, settings, k, a)
            mass = prior + state.curvature[k, a]
            work.trial[k, a] = state.coefficients[k, a]
            work.precision[k, a] = prior
            work.velocity[k, a] = 1.0 / mass if state.included[k, a] == 1 else 0.0
            work.momentum[k, a] = math.sqrt(mass) * rng.standard_normal()


@jit_apart
def move_along_path(rng, state, work, settings, tuning):
    """Move the coefficients of all classes by one trajectory."""
    classes, m = state.coefficients.shape
    value = class_probabilities(state.latent, settings.labels, settings.reference, work.rows)
    if tuning:
        _learn_curvature(state, work, settings)
    _start(rng, state, work, settings)
    before = energy(work, value)
    place = state.log_step.shape[0] - 1
    step = math.exp(state.log_step[place])
    count = min(max(1, math.ceil(_LENGTH * (0.5 + rng.random()) / step)), _MOST_STEPS)
    _find_gradient(work, settings)
    for _ in range(count):
        push(work, 0.5 * step)
        for k in range(classes):
            for a in range(m):
                work.trial[k, a] += step * work.velocity[k, a] * work.momentum[k, a]
        np.dot(work.trial, settings.design, work.other)
        value = class_probabilities(work.other, settings.labels, settings.reference, work.rows)
        _find_gradient(work, settings)
        push(work, 0.5 * step)
    change = before - energy(work, value)
    probability = math.exp(min(0.0, change)) if change == change else 0.0
    state.tallies[1, 0] += 1
    if rng.random() < probability:
        state.tallies[1, 1] += 1
        copy_matrix(work.trial, state.coefficients)
        copy_matrix(work.other, state.latent)
    if tuning:
        gain = 3.0 * (state.sweep[0] + 10.0) ** -0.75
        state.log_step[place] += gain * (probability - _ACCEPTANCE)


@jit_apart
def translate(rng, state, work, settings):
    """Draw what the coefficients of all classes have in common."""
    classes, m = state.coefficients.shape
    for a in range(m):
        total, weighted, free = 0.0, 0.0, True
        for k in range(classes):
            prior = prior_precision(state, settings, k, a)
            total += prior
            weighted += prior * state.coefficients[k, a]
            free = free and state.included[k, a] == 1
        work.vector[a] = 0.0
        if free:
            work.vector[a] = rng.standard_normal() / math.sqrt(total) - weighted / total
            for k in range(classes):
                state.coefficients[k, a] += work.vector[a]
    np.dot(work.vector, settings.design, work.response)
    for k in range(classes):
        for i in range(settings.labels.shape[0]):
            state.latent[k, i] += work.response[i]

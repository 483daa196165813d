"""The likelihoods by the names of the paper's rows."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from sigmavae.likelihoods.base import Likelihood
from sigmavae.likelihoods.bernoulli import Bernoulli
from sigmavae.likelihoods.bitwise import Bitwise
from sigmavae.likelihoods.categorical import Categorical
from sigmavae.likelihoods.discretized import discretized_gaussian, discretized_logistic
from sigmavae.likelihoods.gaussian import SharedSigma, beta_vae, gaussian
from sigmavae.likelihoods.image_sigma import ImageSigma
from sigmavae.likelihoods.logistic_mixture import LogisticMixture
from sigmavae.likelihoods.optimal_sigma import OptimalSigma
from sigmavae.likelihoods.predicted_sigma import BlockSigma, PixelSigma
from sigmavae.likelihoods.student_t import StudentTLikelihood

CATALOGUE: dict[str, Callable[..., Likelihood]] = {
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "bitwise": Bitwise,
    "logistic-mixture": LogisticMixture,
    "discretized-logistic": discretized_logistic,
    "discretized-gaussian": discretized_gaussian,
    "gaussian": gaussian,
    "beta": beta_vae,
    "shared-sigma": SharedSigma,
    "optimal-sigma": OptimalSigma,
    "image-sigma": ImageSigma,
    "block-sigma": BlockSigma,
    "pixel-sigma": PixelSigma,
    "student-t": StudentTLikelihood,
}
"""Every likelihood: a name, and what makes it from its options."""

SHORT_NAMES = {name: name.removesuffix("-sigma") for name in CATALOGUE}
"""A likelihood's name in a recipe: `optimal` for `optimal-sigma`."""


def likelihood(name: str, **options: Any) -> Likelihood:
    """Return the likelihood of that name: `likelihood("optimal-sigma")`, `likelihood("beta", beta=0.01)`."""
    if name not in CATALOGUE:
        raise ValueError(f"no likelihood is called {name!r}; {_nearest(name, list(CATALOGUE))}")
    make = CATALOGUE[name]
    known = list(inspect.signature(make).parameters)
    for option in options:
        if option not in known:
            raise ValueError(f"likelihood {name!r} has no option {option!r}; {_nearest(option, known)}")
    return make(**options)


def _nearest(word: str, known: list[str]) -> str:
    if not known:
        return "it has none"
    (close,) = difflib.get_close_matches(word.lower().replace("_", "-"), known, n=1, cutoff=0.0)
    return f"did you mean {close!r}? There are: {', '.join(known)}"

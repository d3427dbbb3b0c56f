"""Algorithms that fit a network to a batch (DL4J's ``org.deeplearning4j.optimize.solvers``)."""
from __future__ import annotations

from ..structure.settings import NegativeDefaultStepFunction, OptimizationAlgorithm
from .base import OptimizableNetwork, Optimizer
from .conjugate_gradient import ConjugateGradient
from .lbfgs import LBFGS
from .line_gradient_descent import LineGradientDescent
from .line_search import BackTrackLineSearch
from .searching import SearchingOptimizer
from .stochastic_gradient_descent import StochasticGradientDescent

__all__ = ["LBFGS", "BackTrackLineSearch", "ConjugateGradient", "LineGradientDescent", "Optimizer", "SearchingOptimizer",
           "StochasticGradientDescent"]

_SEARCHING: dict[OptimizationAlgorithm, type[SearchingOptimizer]] = {
    OptimizationAlgorithm.LINE_GRADIENT_DESCENT: LineGradientDescent,
    OptimizationAlgorithm.CONJUGATE_GRADIENT: ConjugateGradient,
    OptimizationAlgorithm.LBFGS: LBFGS,
}


def optimizer_for(network: OptimizableNetwork) -> Optimizer:
    """The optimizer that the configuration of a network asks for."""
    solver = network.engine.structure.solver
    kind = _SEARCHING.get(solver.algorithm)
    if kind is None:
        return StochasticGradientDescent(network)
    search = BackTrackLineSearch(solver.step_function or NegativeDefaultStepFunction(), solver.line_search_iterations)
    return kind(network, search)

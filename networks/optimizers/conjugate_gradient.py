"""DL4J's conjugate gradients."""
from __future__ import annotations

from .line_gradient_descent import LineGradientDescent


class ConjugateGradient(LineGradientDescent):
    """Searches along the update, as :class:`LineGradientDescent`.

    DL4J computes a direction by the rule of Polak and Ribiere after each step, but replaces it by the gradient before the next one,
    so its steps are those of the line gradient descent; and so they are here.
    """

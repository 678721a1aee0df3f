"""Ridge regression on visible features: values learned from packages other than those judged."""

from collections.abc import Callable
from functools import cached_property
from math import fsum

from memaudit.core.errors import MemAuditError
from memaudit.writers.estimators.content_digest import content_digest
from memaudit.writers.estimators.features import Row, features
from memaudit.writers.estimators.lexical import LexicalNovelty, lexical_novelty
from memaudit.writers.estimators.ridge_model import RidgeModel, default_model
from memaudit.writers.view import View


class Ridge:
    """Predicted share of the package's total weight, never below 0; lexical novelty.

    Refuses a view whose content it was trained on.
    """

    name = "ridge"
    about = "ridge regression on visible features, trained on other packages of the event graph"

    def __init__(self, model: RidgeModel | None = None) -> None:
        self._model = model

    @cached_property
    def model(self) -> RidgeModel:
        """The model given, else the one that comes with the program, read on first use."""
        return default_model() if self._model is None else self._model

    def values(self, view: View) -> tuple[float, ...]:
        if (content := content_digest(view)) in self.model.trained_on:
            raise MemAuditError(
                f"the ridge model was trained on this content ({content[:12]}): "
                "judge it on packages that it has not seen, or train it without this one"
            )
        return tuple(predicted(self.model, row) for row in features(view))

    def novelty(self, view: View) -> Callable[[], LexicalNovelty]:
        return lexical_novelty(view)


def predicted(model: RidgeModel, row: Row) -> float:
    """The prediction for one row; summed without rounding errors, so the same everywhere."""
    parts = [weight * number for weight, number in zip(model.coefficients, row, strict=True)]
    return max(0.0, round(fsum((model.intercept, *parts)), 9))

"""Models on executors: made once in each Python process, and used by all of its tasks."""
from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from typing import Any

from pyspark import SparkContext

from ...samediff.configuration.pickling import pickled
from ...samediff.errors import ConfigurationError, MissingPackageError, RegistrationError, UnknownNameError
from ...samediff.graph.graph import SameDiff
from ...samediff.training.steps.graph_parameters import TrainingSession
from ..parallel.replicated import ReplicaState, Replicated, replicated

#: Models that a process keeps, with their plans.
KEPT = 4
_models: OrderedDict[str, Replicated] = OrderedDict()


class ModelText:
    """What a model is made of, without its values; broadcast once.

    Parameters
    ----------
    key : str
        Equal for what is made of the same.
    text : Broadcast
        Of the pickled model.
    """

    def __init__(self, key: str, text: Any) -> None:
        self.key, self.text = key, text

    @classmethod
    def of(cls, context: SparkContext, model: Any) -> ModelText:
        """The text of a network or graph."""
        what = model if isinstance(model, SameDiff) else (type(model), model.configuration)
        text = pickled(what, "the model cannot be given to executors", ConfigurationError, "register it under a name")
        return cls(hashlib.sha256(text).hexdigest(), context.broadcast(text))

    def load(self) -> Replicated:
        """The model in this process, the same one for every task."""
        found = _models.get(self.key)
        if found is None:
            found = _models[self.key] = replicated(self._made())
            while len(_models) > KEPT:
                _models.popitem(last=False)
        _models.move_to_end(self.key)
        return found

    def _made(self) -> Any:
        try:
            made = pickle.loads(self.text.value)
        except (AttributeError, ImportError, UnknownNameError, RegistrationError) as error:
            raise MissingPackageError(f"executors lack what the model is made of: {error}. Install the plug-in in the Python that they "
                                      "run (PYSPARK_PYTHON), or send its modules with sc.addPyFile(...).") from error
        return made if isinstance(made, SameDiff) else made[0](made[1]).init()


class SentModel:
    """A model for one job: its text and its present values.

    Parameters
    ----------
    text : ModelText
        What it is made of.
    state : Broadcast
        Of its :class:`~..parallel.replicated.ReplicaState`.
    """

    def __init__(self, text: ModelText, state: Any) -> None:
        self.text, self.state = text, state

    def replica(self, rank: int = 0) -> Replicated:
        """The model on an executor, with these values."""
        state: ReplicaState = self.state.value
        found = self.text.load()
        found.start(state, rank)
        return found

    def __enter__(self) -> SentModel:
        return self

    def __exit__(self, *error: object) -> None:
        self.state.destroy()


class ModelSender:
    """Sends a model to executors: its text once as long as it stays the same, its values as one broadcast for each job."""

    def __init__(self, context: SparkContext, model: Any) -> None:
        self.context, self.model = context, replicated(model)
        self._text: tuple[Any, ModelText] | None = None

    def sent(self) -> SentModel:
        """The model as it is now; a context that gives its memory back."""
        return SentModel(self._present_text(), self.context.broadcast(self.model.state()))

    def _present_text(self) -> ModelText:
        made_of = self._made_of()
        if self._text is None or self._text[0] is not made_of:
            self._text = made_of, ModelText.of(self.context, self.model.model)
        return self._text[1]

    def _made_of(self) -> Any:
        """An object that stays the same while the model is made of the same."""
        whole = self.model.model
        if isinstance(whole, SameDiff):
            session: TrainingSession = whole.training_session()
            return session
        return whole.configuration

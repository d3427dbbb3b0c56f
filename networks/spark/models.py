"""Models on executors: made once in each Python process, and used by all of its tasks."""
from __future__ import annotations

import hashlib
import pickle
import uuid
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext

from ...samediff.base.bounded_cache import BoundedCache
from ...samediff.configuration.pickling import pickled
from ...samediff.errors import ConfigurationError, MissingPackageError, RegistrationError, UnknownNameError
from ...samediff.graph.graph import SameDiff
from ...samediff.training.steps.graph_parameters import TrainingSession
from ..parallel.replicated import Replicated, replicated


@dataclass
class Resident:
    """A model in this process, and the key of the values that it has; none while it is trained.

    Attributes
    ----------
    model : the model
    values : of the last :class:`SentModel` that was computed with
    """

    model: Replicated
    values: str | None = None


#: The models that were used last, in each process.
_residents: BoundedCache[str, Resident] = BoundedCache(4)


class ModelText:
    """The configuration of a model without its values; broadcast once.

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

    def load(self) -> Resident:
        """The model in this process, the same one for every task."""
        found = _residents.used(self.key)
        if found is None:
            found = _residents[self.key] = self._made()
        return found

    def _made(self) -> Resident:
        try:
            made = pickle.loads(self.text.value)
        except (AttributeError, ImportError, UnknownNameError, RegistrationError) as error:
            raise MissingPackageError(f"executors lack what the model is made of: {error}. Install the plug-in in the Python that they "
                                      "run (PYSPARK_PYTHON), or send its modules with sc.addPyFile(...).") from error
        return Resident(replicated(made if isinstance(made, SameDiff) else made[0](made[1]).init()))


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
        self.text, self.state, self.key = text, state, uuid.uuid4().hex

    def replica(self, rank: int) -> Replicated:
        """The model on an executor, to be trained from these values."""
        found = self.text.load()
        found.values = None
        found.model.start(self.state.value, rank)
        return found.model

    def network(self) -> Any:
        """The network or graph on an executor, with these values: asked for again at each batch, as tasks take turns in a process."""
        found = self.text.load()
        if found.values != self.key:
            self.replica(0)
            found.values = self.key
        return found.model.model

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

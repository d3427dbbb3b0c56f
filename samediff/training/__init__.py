"""Training: updaters, schedules, regularization, the training configuration, history and listeners."""
from .checkpoint import (
    Checkpoint,
    CheckpointListener,
    CheckpointListenerBuilder,
    KeepMode,
    available_checkpoints,
    file_for_checkpoint,
    last_checkpoint,
    load_checkpoint,
)
from .config import TrainingConfig
from .config_builder import TrainingConfigBuilder
from .constraints import max_norm, min_max_norm, non_negative, unit_norm
from .evaluative import EvaluativeListener, HistoryListener, InvocationType
from .flat import (
    GradientNormalization,
    ParameterSlot,
    UpdaterBlock,
    initial_state,
    normalize_gradients,
    state_by_parameter,
    state_length,
    updater_blocks,
)
from .history import EvaluationRecord, History, Loss, LossCurve
from .listener import (
    At,
    BaseListener,
    BaseTrainingListener,
    Listener,
    ListenerResponse,
    Listeners,
    ListenerVariables,
    Operation,
    TrainingListener,
)
from .listeners import (
    CollectScoresIterationListener,
    CollectScoresListener,
    PerformanceListener,
    ProgressListener,
    ScoreIterationListener,
    ScoreListener,
    TimeIterationListener,
)
from .regularization import (
    ApplyStep,
    L1Regularization,
    L2Regularization,
    Regularization,
    WeightDecay,
    with_regularization,
)
from .schedules import (
    CycleSchedule,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    PolySchedule,
    RampSchedule,
    Schedule,
    ScheduleType,
    SigmoidSchedule,
    StepSchedule,
    value_of,
)
from .updater import GradientUpdater, IUpdater, RatedUpdater
from .updaters import AdaBelief, AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, NoOp, RmsProp, Sgd, Updater

__all__ = [
    "AMSGrad", "AdaBelief", "AdaDelta", "AdaGrad", "AdaMax", "Adam", "ApplyStep", "At", "BaseListener",
    "BaseTrainingListener", "Checkpoint", "CheckpointListener", "CheckpointListenerBuilder",
    "CollectScoresIterationListener", "CollectScoresListener", "CycleSchedule", "EvaluationRecord",
    "EvaluativeListener", "ExponentialSchedule", "FixedSchedule", "GradientNormalization", "GradientUpdater",
    "History", "HistoryListener", "IUpdater", "InverseSchedule", "InvocationType", "KeepMode", "L1Regularization",
    "L2Regularization", "Listener", "ListenerResponse", "ListenerVariables", "Listeners", "Loss", "LossCurve",
    "MapSchedule", "Nadam", "Nesterovs", "NoOp", "Operation", "ParameterSlot", "PerformanceListener", "PolySchedule",
    "ProgressListener", "RampSchedule", "RatedUpdater", "Regularization", "RmsProp", "Schedule", "ScheduleType",
    "ScoreIterationListener", "ScoreListener", "Sgd", "SigmoidSchedule", "StepSchedule", "TimeIterationListener",
    "TrainingConfig", "TrainingConfigBuilder", "TrainingListener", "Updater", "UpdaterBlock", "WeightDecay",
    "available_checkpoints", "file_for_checkpoint", "initial_state", "last_checkpoint", "load_checkpoint", "max_norm",
    "min_max_norm", "non_negative", "normalize_gradients", "state_by_parameter", "state_length", "unit_norm",
    "updater_blocks", "value_of", "with_regularization",
]

"""Training: updaters, schedules, regularization, the training configuration, history and listeners."""
from .config import TrainingConfig
from .config_builder import TrainingConfigBuilder
from .history import EvaluationRecord, History, Loss, LossCurve
from .listeners.checkpoint import CheckpointListener, CheckpointListenerBuilder, KeepMode
from .listeners.checkpoint_folder import Checkpoint, available_checkpoints, file_for_checkpoint, last_checkpoint
from .listeners.checkpoint_loading import load_checkpoint
from .listeners.composable import ComposableIterationListener
from .listeners.debug_listeners import ArraySavingListener, ExecDebuggingListener, PrintMode
from .listeners.evaluation_listener import BaseEvaluationListener, ListenerEvaluations
from .listeners.evaluative import EvaluativeListener, HistoryListener, InvocationType
from .listeners.failure_testing import CallType, FailureMode, FailureTestingListener, InjectedFailure
from .listeners.listener import (
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
from .listeners.listeners import (
    CollectScoresIterationListener,
    CollectScoresListener,
    PerformanceListener,
    ProgressListener,
    ScoreIterationListener,
    ScoreListener,
    TimeIterationListener,
)
from .listeners.plots import plot_stats
from .listeners.profiling_listener import ProfilingListener, ProfilingListenerBuilder
from .listeners.sleepy import SleepMode, SleepyTrainingListener, TimeMode
from .listeners.stats import FileStatsStorage, InMemoryStatsStorage, StatsStorage
from .listeners.stats_listener import FileMode, StatsListener, UIListener
from .requests import EvaluationConfig, FitConfig, OutputConfig
from .steps.flat import (
    GradientNormalization,
    ParameterSlot,
    UpdaterBlock,
    initial_state,
    normalize_gradients,
    state_by_parameter,
    state_length,
    updater_blocks,
)
from .updaters.constraints import max_norm, min_max_norm, non_negative, unit_norm
from .updaters.regularization import ApplyStep, L1Regularization, L2Regularization, Regularization, WeightDecay, with_regularization
from .updaters.schedules import (
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
from .updaters.updater import GradientUpdater, IUpdater, RatedUpdater
from .updaters.updaters import AdaBelief, AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, NoOp, RmsProp, Sgd, Updater

__all__ = [
    "AMSGrad", "AdaBelief", "AdaDelta", "AdaGrad", "AdaMax", "Adam", "ApplyStep", "ArraySavingListener", "At",
    "BaseEvaluationListener", "BaseListener", "BaseTrainingListener", "CallType", "Checkpoint", "CheckpointListener",
    "CheckpointListenerBuilder", "CollectScoresIterationListener", "CollectScoresListener",
    "ComposableIterationListener", "CycleSchedule", "EvaluationConfig", "EvaluationRecord", "EvaluativeListener",
    "ExecDebuggingListener", "ExponentialSchedule", "FailureMode", "FailureTestingListener", "FileMode",
    "FileStatsStorage", "FitConfig", "FixedSchedule", "GradientNormalization", "GradientUpdater", "History",
    "HistoryListener", "IUpdater", "InMemoryStatsStorage", "InjectedFailure", "InverseSchedule", "InvocationType",
    "KeepMode", "L1Regularization", "L2Regularization", "Listener", "ListenerEvaluations", "ListenerResponse",
    "ListenerVariables", "Listeners", "Loss", "LossCurve", "MapSchedule", "Nadam", "Nesterovs", "NoOp", "Operation",
    "OutputConfig", "ParameterSlot", "PerformanceListener", "PolySchedule", "PrintMode", "ProfilingListener",
    "ProfilingListenerBuilder", "ProgressListener",
    "RampSchedule", "RatedUpdater", "Regularization", "RmsProp", "Schedule", "ScheduleType", "ScoreIterationListener",
    "ScoreListener", "Sgd", "SigmoidSchedule", "SleepMode", "SleepyTrainingListener", "StatsListener", "StatsStorage",
    "StepSchedule", "TimeIterationListener", "TimeMode", "TrainingConfig", "TrainingConfigBuilder", "TrainingListener",
    "UIListener", "Updater", "UpdaterBlock", "WeightDecay", "available_checkpoints", "file_for_checkpoint",
    "initial_state", "last_checkpoint", "load_checkpoint", "max_norm", "min_max_norm", "non_negative",
    "normalize_gradients", "plot_stats", "state_by_parameter", "state_length", "unit_norm", "updater_blocks",
    "value_of", "with_regularization",
]

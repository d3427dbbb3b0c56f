"""Training: updaters, schedules, regularization, the training configuration, history and listeners."""

# The rest is written by `python -m dl4py.samediff.tools.exports`: do not edit.
from .checkpoints.checkpoint_folder import Checkpoint, available_checkpoints, file_for_checkpoint, last_checkpoint
from .checkpoints.checkpoint_loading import load_checkpoint
from .config import TrainingConfig
from .config_builder import TrainingConfigBuilder
from .history import EvaluationRecord, History, Loss, LossCurve
from .history_listener import HistoryListener
from .listeners.calls import Listeners
from .listeners.checkpoint import CheckpointListener, CheckpointListenerBuilder, KeepMode
from .listeners.composable import ComposableIterationListener
from .listeners.debug_listeners import ArraySavingListener, ExecDebuggingListener, PrintMode
from .listeners.evaluation_listener import BaseEvaluationListener, ListenerEvaluations
from .listeners.evaluative_listener import EvaluationCallback, EvaluativeListener, InvocationType, ModelSavingCallback
from .listeners.failure_testing import CallType, FailureMode, FailureTestingListener, InjectedFailure
from .listeners.listener import BaseListener, BaseTrainingListener, Listener, TrainingListener
from .listeners.listener_variables import ListenerVariables
from .listeners.listeners import (
    CollectScoresIterationListener, CollectScoresListener, PerformanceListener, ProgressListener, ScoreIterationListener, ScoreListener,
    TimeIterationListener,
)
from .listeners.operation import At, ListenerResponse, Operation
from .listeners.plots import plot_stats
from .listeners.profiling_listener import ProfilingListener, ProfilingListenerBuilder
from .listeners.sleepy_listener import SleepMode, SleepyTrainingListener, TimeMode
from .listeners.stats import FileStatsStorage, InMemoryStatsStorage, StatsStorage, StatsStorageRouter
from .listeners.stats_listener import FileMode, StatsListener, UIListener
from .run_configurations import EvaluationConfig, FitConfig, OutputConfig
from .steps.flat_layout import ParameterSlot, UpdaterBlock, initial_state, state_by_parameter, state_length, updater_blocks
from .tracking.doctor_listener import DoctorListener
from .tracking.findings import Finding
from .tracking.tensorboard_router import TensorBoardRouter
from .tracking.tracker_routers import MlflowRouter, WandbRouter
from .tracking.watch_listener import WatchListener
from .updaters.constraints import max_norm, min_max_norm, non_negative, unit_norm
from .updaters.gradient_normalization import GradientNormalization, normalize_gradients
from .updaters.gradient_updaters import (
    AMSGradUpdater, AdaBeliefUpdater, AdaDeltaUpdater, AdaGradUpdater, AdaMaxUpdater, AdamUpdater, NadamUpdater, NesterovsUpdater,
    NoOpUpdater, RmsPropUpdater, SgdUpdater,
)
from .updaters.regularization import ApplyStep, L1Regularization, L2Regularization, Regularization, WeightDecay, with_regularization
from .updaters.schedules import (
    CycleSchedule, ExponentialSchedule, FixedSchedule, ISchedule, InverseSchedule, MapSchedule, PolySchedule, RampSchedule, Schedule,
    ScheduleType, SigmoidSchedule, StepSchedule, value_of,
)
from .updaters.updater import GradientUpdater, IUpdater
from .updaters.updaters import (
    AMSGrad, AdaBelief, AdaDelta, AdaGrad, AdaMax, Adam, Nadam, Nesterovs, NoOp, RatedUpdater, RmsProp, Sgd, Updater,
)

__all__ = [
    "AMSGrad", "AMSGradUpdater", "AdaBelief", "AdaBeliefUpdater", "AdaDelta", "AdaDeltaUpdater", "AdaGrad", "AdaGradUpdater", "AdaMax",
    "AdaMaxUpdater", "Adam", "AdamUpdater", "ApplyStep", "ArraySavingListener", "At", "BaseEvaluationListener", "BaseListener",
    "BaseTrainingListener", "CallType", "Checkpoint", "CheckpointListener", "CheckpointListenerBuilder", "CollectScoresIterationListener",
    "CollectScoresListener", "ComposableIterationListener", "CycleSchedule", "DoctorListener", "EvaluationCallback", "EvaluationConfig",
    "EvaluationRecord", "EvaluativeListener", "ExecDebuggingListener", "ExponentialSchedule", "FailureMode", "FailureTestingListener",
    "FileMode", "FileStatsStorage", "Finding", "FitConfig", "FixedSchedule", "GradientNormalization", "GradientUpdater", "History",
    "HistoryListener", "ISchedule", "IUpdater", "InMemoryStatsStorage", "InjectedFailure", "InverseSchedule", "InvocationType", "KeepMode",
    "L1Regularization", "L2Regularization", "Listener", "ListenerEvaluations", "ListenerResponse", "ListenerVariables", "Listeners",
    "Loss", "LossCurve", "MapSchedule", "MlflowRouter", "ModelSavingCallback", "Nadam", "NadamUpdater", "Nesterovs", "NesterovsUpdater",
    "NoOp", "NoOpUpdater", "Operation", "OutputConfig", "ParameterSlot", "PerformanceListener", "PolySchedule", "PrintMode",
    "ProfilingListener", "ProfilingListenerBuilder", "ProgressListener", "RampSchedule", "RatedUpdater", "Regularization", "RmsProp",
    "RmsPropUpdater", "Schedule", "ScheduleType", "ScoreIterationListener", "ScoreListener", "Sgd", "SgdUpdater", "SigmoidSchedule",
    "SleepMode", "SleepyTrainingListener", "StatsListener", "StatsStorage", "StatsStorageRouter", "StepSchedule", "TensorBoardRouter",
    "TimeIterationListener", "TimeMode", "TrainingConfig", "TrainingConfigBuilder", "TrainingListener", "UIListener", "Updater",
    "UpdaterBlock", "WandbRouter", "WatchListener", "WeightDecay", "available_checkpoints", "file_for_checkpoint", "initial_state",
    "last_checkpoint", "load_checkpoint", "max_norm", "min_max_norm", "non_negative", "normalize_gradients", "plot_stats",
    "state_by_parameter", "state_length", "unit_norm", "updater_blocks", "value_of", "with_regularization",
]

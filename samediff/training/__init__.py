"""Training: updaters, schedules, regularization, the training configuration, history and listeners."""
from .constraints import max_norm, min_max_norm, non_negative, unit_norm
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
from .updaters import (
    AdaBelief,
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    AMSGrad,
    Nadam,
    Nesterovs,
    NoOp,
    RmsProp,
    Sgd,
    Updater,
)

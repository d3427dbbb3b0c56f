"""Options of DL4J before 1.0.0 and what took their place, for who brings a program of that time."""
from __future__ import annotations

_RATE = "learning rates belong to updaters: updater(Sgd(0.1)), updater(Adam(1e-3)) …"
_POLICY = "learning rates over time are schedules of the updater: updater(Sgd(StepSchedule(ScheduleType.ITERATION, 0.1, 0.5, 100)))"
_UPDATER = "it belongs to the updater: updater(Nesterovs(0.1, 0.9)), updater(RmsProp(0.1, 0.95, 1e-8)), updater(Adam(1e-3, 0.9, 0.999)) …"
_PASS = "networks always learn by back-propagation, and pretrain() of the network trains layer by layer: leave it out"

OLD_OPTIONS = {
    **dict.fromkeys(("learningrate", "biaslearningrate"), _RATE),
    **dict.fromkeys(("learningratepolicy", "learningratedecaypolicy", "learningrateschedule", "learningratescorebaseddecayrate",
                     "lrpolicydecayrate", "lrpolicysteps", "lrpolicypower"), _POLICY),
    **dict.fromkeys(("momentum", "momentumafter", "momentumschedule", "rho", "rmsdecay", "adammeandecay", "adamvardecay"), _UPDATER),
    **dict.fromkeys(("backprop", "pretrain"), _PASS),
    "iterations": "each batch is one iteration: leave it out, or fit more epochs",
    "numiterations": "each batch is one iteration: leave it out, or fit more epochs",
    "useregularization": "l1(...), l2(...) and weight_decay(...) switch regularization on: leave it out",
    "usedropconnect": "weight_noise(DropConnect(p)) is what it was",
    "leakyrelualpha": "it belongs to the activation: activation(ActivationLReLU(0.01))",
    "cnninputsize": "set_input_type(InputType.convolutional(height, width, channels)) says it",
    "convolutionlayersetup": "set_input_type(InputType.convolutional(height, width, channels)) says it",
    "schedules": _POLICY,
}

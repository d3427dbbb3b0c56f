"""The command line: ``dl4py inspect FILE``, ``dl4py summary FILE``, ``dl4py profile FILE``, ``dl4py convert SOURCE TARGET``,
``dl4py info``.

``python -m dl4py`` is the same.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from ...samediff.errors import DL4PyError, did_you_mean
from .conversion import SUFFIXES, convert
from .inspection import inspect
from .machine import describe, version_of

#: Exit codes: of a shell for a reader that went away (SIGPIPE) and for Ctrl-C (SIGINT).
BROKEN_PIPE, INTERRUPTED = 141, 130

def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 when it worked, 1 with one line on stderr when the file is at fault, 2 where the command is not understood."""
    given = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")         # what they say is among the notes of the report
            print(given.run(given), flush=True)
    except BrokenPipeError:         # of "dl4py ... | head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DL4PyError, OSError) as error:
        print(f"dl4py: {error}", file=sys.stderr)
        return 1
    return 0


class _Command(argparse.ArgumentParser):
    """Says what an unknown command or option may have meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            hint = did_you_mean(value, action.choices) or f"; commands: {', '.join(action.choices)}"
            raise argparse.ArgumentError(action, f"there is no command {value!r}{hint}")

    def parse_args(self, *given: Any) -> Any:   # type: ignore[override]  # one of its two forms
        found, unknown = self.parse_known_args(*given)
        if unknown:
            self._refuse(unknown)
        return found

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        known = [text for action in self._subparsers._group_actions for one in action.choices.values()  # type: ignore[union-attr]
                 for text in one._option_string_actions]
        self.error(f"unknown: {' '.join(unknown)}{did_you_mean(unknown[0], dict.fromkeys(known))}")


def _parser() -> argparse.ArgumentParser:
    parser = _Command(prog="dl4py", description="Look into model files of DL4J and dl4py, and convert them.",
                      epilog="Exit codes: 0 done, 1 the file is at fault, 2 the command is not understood.")
    parser.add_argument("--version", action="version", version=f"dl4py {version_of('dl4py')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("inspect", help="what a file holds: kind, version, layers, parameters, classes and ops that are missing here")
    one.add_argument("file", help="a model zip, graph file, normalizer, array, .npz or .safetensors")
    one.add_argument("--json", action="store_true", help="as JSON")
    one.set_defaults(run=lambda a: json.dumps(inspect(a.file).to_document(), indent=2) if a.json else str(inspect(a.file)))

    two = commands.add_parser("summary", help="the table of a model's layers or of a graph's variables and ops")
    two.add_argument("file", help="a model zip or graph file")
    two.set_defaults(run=lambda a: _summary(a.file))

    four = commands.add_parser("profile", help="where the time of a model goes: layer by layer and op by op, with random inputs")
    four.add_argument("file", help="a model zip or graph file")
    four.add_argument("--batch", type=int, default=32, metavar="N", help="examples (32)")
    four.add_argument("--train", action="store_true", help="a step of training in place of an output")
    four.add_argument("--shape", action="append", default=[], metavar="C,H,W", help="shape of an example, once for each input; "
                      "where the file does not tell it")
    four.add_argument("--trace", metavar="JSON", help="write a file for chrome://tracing or ui.perfetto.dev")
    four.add_argument("--json", action="store_true", help="as JSON")
    four.set_defaults(run=_profile)

    three = commands.add_parser("convert", help="to another kind of file, by the suffix of the target: " + ", ".join(SUFFIXES))
    three.add_argument("source", help="a model zip, graph file, or the arrays of a network")
    three.add_argument("target", help=".zip: a DL4J model; .fb .sdnb .sdz: a graph (of a network the forward pass); "
                                      ".npz .safetensors: arrays by name")
    three.set_defaults(run=lambda a: convert(a.source, a.target, sys.stderr))

    five = commands.add_parser("info", help="the devices of this machine, their memory, and versions")
    five.set_defaults(run=lambda a: describe())
    return parser


def _profile(given: argparse.Namespace) -> str:
    from .profiling import profile
    found = profile(given.file, given.batch, given.train, given.shape, given.trace)
    return found.to_json() if given.json else str(found)


def _summary(path: str) -> str:
    from .opening import open_model
    return str(open_model(path).summary()).strip("\n")

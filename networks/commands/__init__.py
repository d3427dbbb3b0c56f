"""The command line: ``dl4py inspect FILE``, ``dl4py summary FILE``, ``dl4py profile FILE``, ``dl4py convert SOURCE TARGET``,
``dl4py info``, ``dl4py ops``, ``dl4py plugins``, ``dl4py new-plugin NAME``, ``dl4py completion SHELL``.

``python -m dl4py`` is the same.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ...samediff import ops  # noqa: F401 - registers them
from ...samediff.errors import DL4PyError, did_you_mean
from ...samediff.tools.op_descriptors import generate
from .completion import SHELLS, completion
from .conversion import SUFFIXES, convert
from .inspection import inspect
from .machine import describe, version_of
from .opening import open_model
from .plugins import describe_plugins
from .profiling import profile

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

    def __init__(self, **options: Any) -> None:
        self.options: list[str] = []
        self.commands: dict[str, _Command] = {}
        super().__init__(**options)

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """As usual; options are remembered."""
        self.options += [n for n in names if n.startswith("-")]
        return super().add_argument(*names, **options)

    def parse_args(self, args: Sequence[str] | None = None) -> Any:   # type: ignore[override]  # one of its two forms
        """The values of the arguments; those that nobody knows end the program."""
        args = sys.argv[1:] if args is None else args
        first = next((a for a in args if not a.startswith("-")), None)
        if first is not None and first not in self.commands:
            hint = did_you_mean(first, self.commands) or f"; commands: {', '.join(self.commands)}"
            self.error(f"there is no command {first!r}{hint}")
        found, unknown = self.parse_known_args(args)
        if unknown:
            known = dict.fromkeys(o for one in self.commands.values() for o in one.options)
            self.error(f"unknown: {' '.join(unknown)}{did_you_mean(unknown[0], known)}")
        return found


def _parser() -> argparse.ArgumentParser:
    parser = _Command(prog="dl4py", description="Look into model files of DL4J and dl4py, and convert them.",
                      epilog="Exit codes: 0 done, 1 the file is at fault, 2 the command is not understood.")
    parser.add_argument("--version", action="version", version=f"dl4py {version_of('dl4py')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("inspect", help="what a file holds: kind, version, layers, parameters, classes and ops that are missing here")
    one.add_argument("file", help="a model of DL4J, Keras, ONNX or TensorFlow, a graph file, normalizer, array, .npz or .safetensors")
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
    three.add_argument("source", help="a model of DL4J, Keras, ONNX or TensorFlow, a graph file, or the arrays of a network")
    three.add_argument("target", help=".zip: a DL4J model; .fb .sdnb .sdz .onnx: a graph (of a network the forward pass); "
                                      ".npz .safetensors: arrays by name")
    three.add_argument("--dry-run", action="store_true", help="say what would get lost, and write nothing")
    three.set_defaults(run=lambda a: convert(a.source, a.target, sys.stderr, a.dry_run))

    five = commands.add_parser("info", help="the devices of this machine, their memory, and versions")
    five.set_defaults(run=lambda a: describe())

    six = commands.add_parser("ops", help="every op there is, those of installed plug-ins included, described for other programs")
    six.add_argument("--form", choices=("json", "pbtxt"), default="json", help="json, or the text form of DL4J's op-ir.proto")
    six.set_defaults(run=_ops)

    seven = commands.add_parser("plugins", help="distributions with plug-ins: from where, their names, what is broken and why")
    seven.set_defaults(run=lambda a: _plugins())

    eight = commands.add_parser("new-plugin", help="write an installable distribution with an op, a layer and their tests")
    eight.add_argument("name", help="of the package, such as acme_layers")
    eight.add_argument("--folder", default=".", help="where its folder is made")
    eight.set_defaults(run=lambda a: _new_plugin(a.name, a.folder))
    nine = commands.add_parser("completion", help="a script by which a shell completes commands, options and files: "
                               "eval \"$(dl4py completion bash)\"")
    nine.add_argument("shell", choices=SHELLS, help="whose")
    nine.set_defaults(run=lambda a: completion(a.shell, {n: c.options for n, c in parser.commands.items()}, parser.options))
    parser.commands = commands.choices
    return parser


def _profile(given: argparse.Namespace) -> str:
    found = profile(given.file, given.batch, given.train, given.shape, given.trace)
    return found.to_json() if given.json else str(found)


def _ops(given: argparse.Namespace) -> str:
    return generate(given.form).rstrip()


def _plugins() -> str:
    return describe_plugins()


def _new_plugin(name: str, folder: str) -> str:
    made = import_module("dl4py.udf").new_plugin(name, folder)       # which networks know nothing of
    return f"{made}: next, pip install -e '{made}[test]' and python -m pytest {made}"


def _summary(path: str) -> str:
    return str(open_model(path).summary()).strip("\n")

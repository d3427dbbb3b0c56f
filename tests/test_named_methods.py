"""Every public method that only users call is named in some test, example or document."""
from __future__ import annotations

import inspect
import re
from pathlib import Path

from dl4py.samediff.base.javanames import to_camel
from tests.helpers.public_api import public

ROOT = Path(__file__).resolve().parent.parent
WORD, USE = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[.\"']([A-Za-z_]\w*)")


def words(pattern, *folders):
    """What the pattern finds in all texts of some folders."""
    paths = [p for folder in folders for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".py", ".md", ".java", ".json")]
    return {word for path in paths for word in pattern.findall(path.read_text(encoding="utf-8", errors="replace"))}


def methods():
    """Public methods of public classes, with the names that they have in both spellings."""
    for owner, cls in public():
        for name, member in vars(cls).items() if inspect.isclass(cls) else ():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{owner}.{name}", {name, to_camel(name), function.__name__}


def test_methods_that_nobody_calls_here_are_named_in_a_test():
    known = words(WORD, "tests", "docs", "examples") | words(USE, "samediff", "layers", "networks", "udf")
    unnamed = sorted(name for name, names in methods() if not names & known)
    assert not unnamed, "no test names " + ", ".join(unnamed)


def test_a_method_without_a_test_would_be_found():
    assert len(list(methods())) > 1000
    assert "save_updater_state" in words(USE, "networks") | words(WORD, "tests") and "no_such" + "_method" not in words(WORD, "tests")

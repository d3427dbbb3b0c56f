"""The tool that makes mistakes: each kind is made where it can be, in files and in running functions."""
from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest

from tests.mutation import limits
from tests.mutation.concerned import AREAS, defined_in, names_with
from tests.mutation.in_place import words
from tests.mutation.mistakes import mistakes_in
from tests.mutation.reach import reaches
from tests.mutation.record import function_at, recorded, starts_more, telling
from tests.mutation.swapping import changed_functions

ROOT = Path(__file__).resolve().parents[2]


def made(text):
    return {m.made_in(text.encode()).decode() for m in mistakes_in(text.encode())}


@pytest.mark.parametrize(("text", "mistakes"), [
    ("a < b", {"a <= b"}), ("a is not b", {"a is b"}), ("a in (1,)", {"a not in (1,)", "a in (2,)"}), ("a - b", {"a + b"}),
    ("a ** b", {"a * b"}),
    ("a and b", {"a or b"}), ("not a", {"(a)"}), ("f(x, y)", {"f(y, x)"}), ("f(x, k=y)", {"f(x)"}), ("max(a)", {"min(a)"}),
    ("x if a else y", {"x if True else y", "x if False else y"}), ("a += b", {"pass"}), ("with lock:\n    a", {"if True:\n    a"}),
    ("'text' + a", set()), ("'é'; 1.5", {"'é'; 3.0"}), ("def f(a: 1 = None) -> 2: ...", set()), ("if TYPE_CHECKING:\n    a = 1", set()),
    ("raise E(a + 1)", set()), ("a.startswith((b, c))", set()), ("a.f((b, c))", {"a.f((c, b))"}), ("{a for a in (b, c)}", set()),
    ("[a for a in (b, c)]", {"[a for a in (c, b)]"}), ("__all__ = ['a', 'b']", set()),
    ("a.reshape(-1)", {"a.reshape((1))"}), ("f(-1)", {"f((1))", "f(-2)"}),
    ("F = Callable[[int, str], None]", set()), ("f = given[a, 1]", {"f = given[1, a]", "f = given[a, 2]"})])
def test_kinds(text, mistakes):
    assert made(text) - {"pass"} == mistakes - {"pass"} and ("pass" in mistakes) <= ("pass" in made(text))


def test_a_running_function_is_changed(tmp_path):
    text = "def f(a):\n    return a + 1\n\ndef g(a):\n    return [f(b) for b in a]\n"
    file = tmp_path / "changed.py"
    module = types.ModuleType("changed")
    exec(compile(text, str(file), "exec", dont_inherit=True), vars(module))
    kept = module.f
    assert changed_functions(file, text.encode(), text.replace("a + 1", "a - 1").encode()) == 1
    assert module.g([1, 2]) == [0, 1] and kept(1) == 0
    assert not changed_functions(file, text.encode(), text.encode())


@pytest.mark.slow
def test_lines_that_move_are_no_change(tmp_path):
    text = "A = dict(\n    b=1,\n    c=2)\n\ndef f(a):\n    return [x + 1 for x in a]\n"
    file = tmp_path / "moved.py"
    module = types.ModuleType("moved")
    exec(compile(text, str(file), "exec", dont_inherit=True), vars(module))
    moved, wrong = text.replace("\n    c=2", ""), text.replace("\n    c=2", "").replace("x + 1", "x - 1")
    assert not changed_functions(file, text.encode(), moved.encode())
    assert changed_functions(file, text.encode(), wrong.encode()) == 1 and module.f([1, 2]) == [0, 1]
    assert changed_functions(file, wrong.encode(), wrong.replace("[x - 1 for x in a]", "a").encode()) == 1 and module.f([1, 2]) == [1, 2]


def test_functions_tell_that_they_run():
    text = "a = 1\ndef f(x):\n    'text'\n    return (lambda y: y + 1)(x)\n\nclass C:\n    b = 2\n    def g(self): return 3\n"
    reached = []
    names = {"_dl4py_reached": reached.append}
    exec(compile(telling("file", text.encode()), "file", "exec"), names)
    assert reached == [] and names["f"](1) == 2
    numbers = {part: function_at(text.encode(), text.index(part)) for part in ("a = 1", "return (", "y + 1", "b = 2", "return 3")}
    assert reached == [f"file:{numbers['return (']}", f"file:{numbers['y + 1']}"]
    assert numbers["a = 1"] is None and numbers["b = 2"] is None and len(set(numbers.values())) == 4


@pytest.mark.slow
def test_which_tests_reach_a_function(tmp_path, monkeypatch):
    from dl4py.udf.code.failure import sizes

    class Item(types.SimpleNamespace):
        def pytest_runtest_protocol(self, item, nextitem):
            item.run()

        @property
        def config(self):
            return types.SimpleNamespace(hook=self)

    def in_a_process():
        process = os.fork()
        if not process:
            sizes("f", [1])
            os._exit(0)
        os.waitpid(process, 0)
    runs = {"calls it": lambda: sizes("f", [1]), "does not": print, "calls it elsewhere": in_a_process,
            "starts a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True)}
    monkeypatch.chdir(ROOT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)        # of processes with threads that are copied
        session = types.SimpleNamespace(items=[Item(nodeid=n, run=r) for n, r in runs.items()], testsfailed=0)
        rows = recorded(session, ["udf/code/failure.py"], tmp_path / "rows.json")
    source = (ROOT / "udf/code/failure.py").read_bytes()
    function = f"udf/code/failure.py:{function_at(source, source.index(b'def sizes') + 200)}"
    assert {n: r.reached is None or function in r.reached for n, r in rows.items()} == {
        "calls it": True, "does not": False, "calls it elsewhere": True, "starts a program": True}
    assert rows["does not"].reached == [] and rows["starts a program"].reached is None


@pytest.mark.parametrize(("event", "program", "env", "more"), [
    ("subprocess.Popen", sys.executable, None, True), ("subprocess.Popen", "/bin/bash", dict(os.environ), True),
    ("subprocess.Popen", b"/usr/bin/c++", None, False), ("subprocess.Popen", sys.executable, {"PYTHONPATH": "/elsewhere"}, False),
    ("os.posix_spawn", "pytest", None, True), ("open", "python", None, False)])
def test_programs_that_may_run_more(event, program, env, more):
    assert starts_more(event, (program, [], None, env)) is more


def program(code, **streams):
    return subprocess.Popen([sys.executable, "-c", code], start_new_session=True, text=True, **streams)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing tells how much processes work")
def test_only_tests_that_do_nothing_are_stuck(monkeypatch):
    work = "import time\nwhile time.process_time() < 0.5: pass"
    with program(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {work!r}])\nprint(flush=True)\ninput()",
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waits:
        waits.stdout.readline()
        assert limits._used(waits.pid) >= 30            # the work of a program that has ended counts
        waits.communicate("\n")
    with program("raise SystemExit(3)") as ends:
        assert limits.waited(ends.pid) == 3
    monkeypatch.setattr(limits, "STILL", 0.2)
    with program("import time; time.sleep(60)") as sleeps:
        assert limits.waited(sleeps.pid) is None


def test_what_compiled_code_reaches():
    from dl4py.samediff.cpu.kernels import pooling, window_bounds
    assert reaches([pooling.max_pool], pooling.__name__) and reaches([pooling.max_pool], window_bounds.__name__)
    assert not reaches([window_bounds.inside], pooling.__name__) and not reaches([1, sys], pooling.__name__)


def helper_of_words():
    return "farther", helper_of_words


def test_words_of_a_test_and_of_what_it_calls_in_its_file():
    def test():
        helper_of_words()
        names_with()
    assert {"test", "helper_of_words", "farther"} <= words(test) and "stem" not in words(test)
    assert words(3) == frozenset()


@pytest.mark.slow
def test_areas_have_sources_and_tests():
    for area in AREAS.values():
        assert list(ROOT.glob(area.sources)) and all((ROOT / t).exists() for t in (*area.tests, *area.by_op))
    assert {"maxpool2d", "avgpool2d", "pool"} <= set(names_with(ROOT / "samediff/ops/conv/pool.py", ROOT))
    assert "maxpool2d" in names_with(ROOT / "samediff/cpu/kernels/pooling_2x2.py", ROOT)
    assert {"cos", "tanh", "log_x"} <= set(names_with(ROOT / "samediff/ops/elementwise/transforms.py", ROOT))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "classes"), [
    ("gru_sequence", {"gru_step", "GruSequence", "GruSequenceGrad"}), ("rnn_sequence", {"RnnSequence"}), ("time_loops", {"LstmSequence"}),
    ("pooling_2x2", {"MaxPooling"})])
def test_kernels_concern_the_tests_of_the_ops_that_they_serve(file, classes):
    assert classes <= set(defined_in(ROOT / f"samediff/cpu/kernels/{file}.py", ROOT))

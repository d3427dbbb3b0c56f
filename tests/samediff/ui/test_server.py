"""The training page as a server: what it answers, whom it refuses, records of other processes."""
from __future__ import annotations

import http.client
import json
import socket
import threading
import urllib.error
import urllib.request

import pytest

from dl4py.networks.commands import main
from dl4py.networks.commands.training_page import show
from dl4py.samediff.errors import ConfigurationError, FileFormatError
from dl4py.samediff.training import FileStatsStorage, InMemoryStatsStorage, StatsListener
from dl4py.samediff.ui import RemoteUIStatsStorageRouter, UIServer
from dl4py.samediff.ui.records import checked_record
from dl4py.samediff.ui.runs import Runs
from tests.samediff.ui.stored import GRAPH, looked, record

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("plotly")


@pytest.fixture
def storage():
    made = InMemoryStatsStorage()
    for i in range(3):
        made.put(record(i))
    made.put(looked(2))
    return made


@pytest.fixture
def server(storage):
    with UIServer(0) as made:
        made.attach(storage)
        yield made


def call(server, path, body=None, method=None, **headers):
    """Status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.get_port(), timeout=60)
    connection.request(method or ("GET" if body is None else "POST"), path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    reply = connection.getresponse()
    found = reply.status, reply.headers, reply.read()
    connection.close()
    return found


def ask(server, path):
    status, _, body = call(server, path)
    assert status == 200, body
    return json.loads(body)


def test_answers(server, storage):
    (run,) = ask(server, "/api/runs")
    assert {k: run[k] for k in ("id", "session", "source", "records", "model", "iteration")} == {
        "id": 0, "session": "first", "source": "InMemoryStatsStorage", "records": 4, "model": "MultiLayerNetwork", "iteration": 2}
    found = ask(server, "/api/records?run=0&since=1")
    assert [r["iteration"] for r in found["records"]] == [1, 2, 2] and found["next"] == 4
    assert "histogram" not in found["records"][0]["parameters"]["0_W"] and found["records"][0]["parameters"]["0_W"]["stdev"] > 0
    assert ask(server, "/api/run?run=0")["graph"] == GRAPH
    assert [h["iteration"] for h in ask(server, "/api/histograms?run=0&kind=updates&name=1_W")] == [0, 1, 2]
    latest = ask(server, "/api/latest?run=0&what=evaluation")
    assert latest["iterations"] == [2] and sum(map(sum, latest["value"]["confusion"])) == 30
    storage.put(record(3))
    assert [r["iteration"] for r in ask(server, "/api/records?run=0&since=4")["records"]] == [3]


@pytest.mark.parametrize(("path", "status", "text"), [
    ("/api/records?run=9", 404, "no run 9"), ("/api/records?run=-1", 404, "no run"), ("/api/records?run=a", 400, "numbers"),
    ("/api/histograms?run=0&kind=x&name=y", 404, "histograms are of"), ("/api/latest?run=0&what=run", 404, "no part"),
    ("/nothing", 404, ""),
    ("/assets/server.py", 404, "no 'server.py'"), ("/assets/..%2fserver.py", 404, ""), ("/assets/", 404, "")])
def test_questions_without_an_answer(server, path, status, text):
    found = call(server, path)
    assert found[0] == status and text in found[2].decode()


def test_the_page_comes_with_all_that_it_needs(server):
    status, headers, page = call(server, "/")
    assert status == 200 and "default-src 'self'" in headers["Content-Security-Policy"] and b"http" not in page
    for name in ("plotly.js", "graph.js", "charts.js", "tabs.js", "ui.js", "page.css", "ui.css"):
        assert f"/assets/{name}" in page.decode() and call(server, f"/assets/{name}")[0] == 200


def test_names_of_other_hosts_are_refused(server):
    """A page of another site cannot read from here by a name that it lets point to this machine."""
    assert call(server, "/api/runs", Host="evil.example")[0] == 400
    assert call(server, "/api/runs", body=b"{}")[0] == 405
    with pytest.raises(ConfigurationError, match="cannot be used"):
        UIServer(server.get_port())
    for wrong in (-1, 70000, "9000", True):
        with pytest.raises(ConfigurationError, match="a port is"):
            UIServer(wrong)
    assert server._socket.getsockname()[0] == "127.0.0.1"


def test_records_of_other_processes(server, monkeypatch):
    monkeypatch.setattr("dl4py.samediff.ui.application.MOST_BYTES", 100_000)
    plain = json.dumps(record(0, "other")).encode()
    assert call(server, "/remote", plain)[0] == 403 and not server.is_remote_listener_enabled()
    with pytest.raises(ConfigurationError, match="at least 16 letters"):
        server.enable_remote_listener(token="short")
    token = server.enable_remote_listener()
    assert len(token) > 20 and len(server.get_stats_storage_instances()) == 2
    assert call(server, "/remote", plain, Authorization=f"Bearer {token[:-1]}")[0] == call(server, "/remote", plain)[0] == 401
    for body, status in ((b"[1]", 400), (b'{"iteration": NaN}', 400), (b"x" * 100_001, 413)):
        try:
            assert call(server, "/remote", body, Authorization=f"Bearer {token}")[0] == status
        except (ConnectionError, http.client.HTTPException):        # it hangs up on those who send too much
            assert status == 413
    assert [r["session"] for r in ask(server, "/api/runs")] == ["first"]
    router = RemoteUIStatsStorageRouter(server.get_address(), token)
    for i in range(3):
        router.put(record(i, "other"))
    router.close()
    assert router.failures == 0
    assert [(r["session"], r["records"]) for r in ask(server, "/api/runs")] == [("first", 4), ("other", 3)]
    server.disable_remote_listener()
    router.put(record(3, "other"))
    with pytest.warns(UserWarning, match=r"do not reach the training page .* \(403: remote listeners are not enabled"):
        router.close()


def test_a_server_of_the_own_process_needs_no_token(server, monkeypatch):
    monkeypatch.setattr(UIServer, "_instance", server)
    address = f"http://localhost:{server.get_port()}"
    with pytest.raises(ConfigurationError, match="returned the token"):
        RemoteUIStatsStorageRouter(address)
    server.enable_remote_listener()
    with pytest.raises(ConfigurationError, match="returned the token"):
        RemoteUIStatsStorageRouter("http://another.machine:9000")
    router = RemoteUIStatsStorageRouter(address)
    router.put(record(0, "own"))
    router.close()
    assert router.failures == 0 and [r["session"] for r in ask(server, "/api/runs")] == ["first", "own"]


def test_training_goes_on_without_the_server(server):
    address = server.get_address()
    server.stop()
    router = RemoteUIStatsStorageRouter(address, "x" * 20, timeout=1)
    router.put(record(0))
    with pytest.warns(UserWarning, match="do not reach"):
        router.close()
    with pytest.raises(ConfigurationError, match="begins with http"):
        RemoteUIStatsStorageRouter("127.0.0.1:9000", "x" * 20)
    with pytest.raises(ConfigurationError, match=r"enable_remote_listener\(\).* returned the token"):
        RemoteUIStatsStorageRouter("http://127.0.0.1:9000")


@pytest.mark.parametrize(("body", "text"), [
    (b"{", "is JSON"), (b"3", "is a dictionary"), (b'{"score": 1}', "iteration of a record"),
    (b'{"iteration": true}', "iteration of a record"), (b'{"iteration": -1}', "iteration of a record"),
    (b'{"iteration": 1, "session": 3}', "session of a record"),
    (b'{"iteration": 1, "score": "a"}', "'score' of a record"), (b'{"iteration": 1, "updates": [1]}', "'updates' of a record"),
    (b'{"iteration": 1, "run": {"a": ' + b"[" * 20 + b"]" * 20 + b"}}", "nested at most"), (b"[" * 100_000, "is JSON"),
    (b"\xff", "is JSON")])
def test_what_is_no_record(body, text):
    with pytest.raises(FileFormatError, match=text):
        checked_record(body)


def test_one_server_in_a_process(monkeypatch):
    monkeypatch.setattr(UIServer, "__init__", lambda self, port=0, make=UIServer.__init__: make(self, 0))
    first = UIServer.getInstance()
    try:
        storage = InMemoryStatsStorage()
        first.attach(storage)
        first.attach(storage)
        assert UIServer.get_instance() is first and first.isAttached(storage) and first.getStatsStorageInstances() == [storage]
        first.detach(storage)
        assert not first.is_attached(storage) and not first.is_stopped()
        with pytest.raises(ConfigurationError, match="whose records can be read"):
            first.attach(StatsListener(storage))
    finally:
        UIServer.stop_instance()
    assert first.is_stopped() and first.get_port() == -1
    first.join()
    UIServer.stop_instance()


def test_folders_of_files(tmp_path):
    runs = Runs()
    (tmp_path / "other.jsonl").write_text("{}\n")
    (tmp_path / "empty.jsonl").touch()
    runs.watch(tmp_path)
    assert runs.listed() == []
    (tmp_path / "sub").mkdir()
    for name in ("a", "b"):
        storage = FileStatsStorage(tmp_path / "sub" / f"{name}.jsonl")
        storage.put(record(0, name))
        storage.put({"no": "iteration"})
    assert [(r["session"], r["source"], r["records"]) for r in runs.listed()] == [("a", "a.jsonl", 1), ("b", "b.jsonl", 1)]
    storage.put(record(1, "b"))
    with (tmp_path / "sub" / "a.jsonl").open("a") as stream:
        stream.write('{"iteration": 5')
    assert [r["records"] for r in runs.listed()] == [1, 2]
    (tmp_path / "sub" / "b.jsonl").unlink()
    assert [r["records"] for r in runs.listed()] == [1, 2]
    runs.detach(runs.storages()[0])
    assert [r["session"] for r in runs.listed()] == ["b"]
    with pytest.raises(ConfigurationError, match="is no folder"), UIServer(0) as server:
        server.watch(tmp_path / "nowhere")


def test_many_histograms_are_thinned():
    storage = InMemoryStatsStorage()
    for i in range(200):
        storage.put({"iteration": i, "updates": {"w": {"histogram": {"min": 0, "max": 1, "counts": [1]}}}})
    runs = Runs()
    runs.attach(storage)
    found = runs.histograms(0, "updates", "w") if runs.listed() else []
    assert found[0]["iteration"] == 0 and found[-1]["iteration"] == 199 and len(found) <= 61


@pytest.mark.parametrize("what", ["file", "folder"])
def test_the_command(tmp_path, capsys, monkeypatch, what):
    storage = FileStatsStorage(tmp_path / "run.jsonl")
    storage.put(record(0))
    seen = []

    def look(address):
        with urllib.request.urlopen(f"{address}/api/runs", timeout=60) as reply:
            seen.append(json.load(reply))
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", look)
    assert main(["ui", str(tmp_path / "run.jsonl" if what == "file" else tmp_path), "--port", "0", "--remote", "--open"]) == 130
    assert [r["session"] for r in seen[0]] == ["first"]
    told = capsys.readouterr().out
    assert "http://127.0.0.1:" in told and "token for RemoteUIStatsStorageRouter: " in told


def test_files_that_the_command_cannot_show(tmp_path, capsys):
    (tmp_path / "x.txt").write_text("hello")
    for path, text in ((tmp_path / "none", "is not there"), (tmp_path / "x.txt", "not a file of training statistics")):
        assert main(["ui", str(path)]) == 1
        assert text in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match="is not there"):
        show(str(tmp_path / "none"))


def test_no_thread_and_no_socket_stays(storage):
    with UIServer(0) as server:
        port = server.get_port()
        assert call(server, "/api/runs")[0] == 200
    assert not [t for t in threading.enumerate() if t.name == "dl4py-ui"]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0

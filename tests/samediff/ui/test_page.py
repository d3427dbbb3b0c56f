"""The training page in a browser: every tab shows what the numbers say, while they come."""
from __future__ import annotations

import json

import pytest

from dl4py.samediff.drawing.graphs import DrawnNode, GraphDrawing
from dl4py.samediff.training import FileStatsStorage, InMemoryStatsStorage
from dl4py.samediff.ui import UIServer
from tests.samediff.ui.browser import chromium
from tests.samediff.ui.stored import looked, record

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def browser():
    driver = chromium()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    made = FileStatsStorage(tmp_path_factory.mktemp("runs") / "first.jsonl")
    for i in range(40):
        made.put(record(i))
        if i % 10 == 9:
            made.put(looked(i))
    return made


@pytest.fixture(scope="module")
def server(storage):
    with UIServer(0) as made:
        made.attach(storage)
        yield made


@pytest.fixture
def page(browser, server):
    browser.get(server.get_address())
    until(browser, "document.body.dataset.shown")
    yield browser
    loud = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]
    assert not loud


def until(browser, condition, seconds=300):
    """Wait for a condition of JavaScript, and give its value."""
    from selenium.webdriver.support.ui import WebDriverWait
    return WebDriverWait(browser, seconds, 0.05).until(lambda b: b.execute_script(f"return {condition}"))


def lines(browser, title):
    """The lines of a chart by name: x and y, as they are drawn."""
    return browser.execute_script("""
        const plot = document.querySelector(`[data-title="${arguments[0]}"] .plot`);
        return Object.fromEntries((plot.data ?? []).map((t) => [t.name ?? t.type, {x: [...t.x], y: [...t.y], z: t.z}]))""", title)


def choose(browser, tab):
    shown = int(browser.execute_script("return document.body.dataset.shown ?? 0"))
    browser.find_element("id", f"tab-{tab}").click()
    until(browser, f"Number(document.body.dataset.shown) > {shown}")
    assert [p.get_attribute("id") for p in browser.find_elements("css selector", "[role=tabpanel]") if p.is_displayed()] == [tab]


def test_the_overview(page, storage):
    steps, scores = storage.series("score")
    drawn = lines(page, "Score")
    assert drawn["first (as it is)"] == {"x": steps, "y": pytest.approx(scores), "z": None}
    assert drawn["first"]["y"][0] == pytest.approx(scores[0]) and drawn["first"]["y"][5] > scores[5]
    ratios = lines(page, "Update : parameter ratios (log10 of mean magnitudes)")
    assert set(ratios) == {"0_W", "1_W"} and ratios["0_W"]["y"] == pytest.approx([-3.0] * 40)
    assert lines(page, "Standard deviations: activations (log10)").keys() == {"0"}
    assert lines(page, "Examples per second")["first"]["y"] == pytest.approx([4000.0] * 40)
    assert lines(page, "Time by phase (ms per iteration)")["training"]["y"] == [6] * 40
    page.find_element("css selector", '[data-title="Score"] summary').click()
    cells = until(page, "[...document.querySelectorAll('[data-title=\"Score\"] tbody tr:last-child td')].map((c) => c.textContent)")
    assert cells[:2] == ["first", "39"] and float(cells[2]) == pytest.approx(scores[-1], rel=1e-3)


def test_updates_arrive_without_reloading(browser):
    growing = InMemoryStatsStorage()
    with UIServer(0) as server:
        server.attach(growing)
        browser.get(server.get_address())
        until(browser, "document.getElementById('runs').textContent.includes('No run')")
        for i in range(3):
            growing.put(record(i, "live"))
        until(browser, "document.querySelector('[data-title=\"Score\"] .plot').data?.[0].x.length === 3")
        growing.put(record(3, "live"))
        growing.put(record(0, "second", score=1.0))
        until(browser, "document.querySelector('[data-title=\"Score\"] .plot').data?.[0].x.length === 4")
        until(browser, "document.querySelectorAll('#runs input').length === 2")
        for box in browser.find_elements("css selector", "#runs input"):
            if not box.is_selected():
                box.click()
        until(browser, "document.querySelector('[data-title=\"Score\"] .plot').data.length === 4")
        assert lines(browser, "Score")["second"]["y"] == [1.0]
        copy = InMemoryStatsStorage()
        copy.put(record(0, "second", score=3.0))
        server.attach(copy)
        until(browser, "document.querySelector('[data-title=\"Score\"] .plot').data.length === 6")
        assert lines(browser, "Score")["second #2"]["y"] == pytest.approx([3.0])
        server.detach(growing)
        until(browser, "document.querySelectorAll('#runs input').length === 1")
        until(browser, "document.querySelector('[data-title=\"Score\"] .plot').data.length === 2")
        assert browser.find_element("id", "state").text == "live"


def test_the_model(page, storage):
    choose(page, "model")
    assert [g.get_attribute("data-name") for g in page.find_elements("css selector", "#model .box")] == ["input", "0", "1"]
    page.find_element("css selector", '#model [data-name="0"]').click()
    until(page, "document.querySelector('[data-title=\"0_W: histograms of parameters\"] .plot')?.data")
    details = page.find_element("css selector", "#model .details").text
    assert "DenseLayer" in details and "RELU" in details and "(?, 8)" in details
    heat = lines(page, "0_W: histograms of parameters")["heatmap"]
    assert len(heat["x"]) == 40 and all(sum(row[k] for row in heat["z"]) == pytest.approx(1) for k in range(40))
    _, wanted = storage.series("parameters", "0_W", "mean_magnitude")
    assert lines(page, "0_W: mean magnitude of parameters")["0_W"]["y"] == pytest.approx(wanted)
    page.find_element("css selector", '#model [data-name="1"]').send_keys("\ue007")       # Enter
    until(page, "document.querySelector('#model h2').textContent.startsWith('1 (OutputLayer)')")
    assert "<b>MCXENT</b>" in page.find_element("css selector", "#model .details").text             # as text
    assert until(page, "document.querySelector('#model .pictures img')?.naturalWidth") > 20


def test_the_system(page):
    choose(page, "system")
    assert lines(page, "Memory of the process (MB)")["first"]["y"][-1] == 339
    assert lines(page, "Cores in use")["first"]["y"] == pytest.approx([1.5] * 39)
    assert "Adam" in page.find_element("id", "system").text and "3.11" in page.find_element("id", "system").text


def test_the_evaluation(page, storage):
    choose(page, "evaluation")
    found = [r for r in storage.records() if "evaluation" in r]
    last = found[-1]["evaluation"]
    assert lines(page, "Confusion matrix")["heatmap"]["z"] == last["confusion"]
    texts = "[...document.querySelectorAll('[data-title=\"Confusion matrix\"] .heatmap-label')].map((t) => t.textContent).sort()"
    assert page.execute_script(f"return {texts}") == sorted(str(n) for row in last["confusion"] for n in row)
    assert lines(page, "Measures")["accuracy"]["y"] == pytest.approx([r["evaluation"]["accuracy"] for r in found])
    roc = {name.split(" (area ")[0]: line for name, line in lines(page, "ROC").items()}
    assert len(roc) == 3 and roc["cat"]["x"] == pytest.approx(last["roc"]["cat"]["fpr"])
    assert lines(page, "Calibration")["dog"]["y"] == pytest.approx(last["calibration"]["dog"]["y"])
    page.execute_script("const i = document.querySelector('#evaluation input'); i.value = 0; i.oninput()")
    until(page, "document.querySelector('#evaluation output').textContent === 'iteration 9'")
    until(page, f"JSON.stringify(document.querySelector('[data-title=\"Confusion matrix\"] .plot').data[0].z) === "
                f"'{json.dumps(found[0]['evaluation']['confusion'], separators=(',', ':'))}'")


def test_the_embedding(page):
    choose(page, "embedding")
    drawn = lines(page, "Activations as points of a plane")
    assert set(drawn) == {"cat", "dog", "<i>owl</i>"} and all(len(d["x"]) == 10 for d in drawn.values())


def test_keyboard_dark_mode_and_narrow_windows(page):
    from selenium.webdriver.common.keys import Keys
    page.find_element("id", "tab-overview").send_keys(Keys.ARROW_LEFT)
    assert page.switch_to.active_element.get_attribute("id") == "tab-embedding"
    page.switch_to.active_element.send_keys(Keys.HOME)
    assert page.find_element("id", "overview").is_displayed()
    background = "getComputedStyle(document.body).backgroundColor"
    paper = "document.querySelector('[data-title=\"Score\"] .plot')._fullLayout.paper_bgcolor"
    light = page.execute_script(f"return {background}")
    page.find_element("id", "theme").click()
    until(page, f"{background} !== '{light}' && {paper} !== '#ffffff'")
    page.find_element("id", "theme").click()
    until(page, f"{background} === '{light}' && {paper} === '#ffffff'")
    size = page.get_window_size()
    page.set_window_size(600, 900)
    until(page, "document.querySelector('[data-title=\"Score\"] .plot')._fullLayout.width < 600")
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth + 1")
    page.set_window_size(size["width"], size["height"])


def contrast(browser, selector):
    """How much the text of an element differs from what is behind it (WCAG: at least 4.5)."""
    def luminance(colour):
        parts = [int(c) / 255 for c in colour[colour.index("(") + 1:-1].split(",")[:3]]
        return sum(w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), parts))
    text, behind = browser.execute_script("""
        const element = document.querySelector(arguments[0]);
        const solid = (e) => {
          const c = getComputedStyle(e).backgroundColor;
          return c === "rgba(0, 0, 0, 0)" && e.parentElement ? solid(e.parentElement) : c;
        };
        return [getComputedStyle(element).color, solid(element)]""", selector)
    one, two = sorted((luminance(text), luminance(behind)))
    return (two + 0.05) / (one + 0.05)


def test_texts_can_be_read(page):
    for _ in ("light", "dark"):
        for selector in ("h1", "[role=tab][aria-selected=true]", "[role=tab][aria-selected=false]", "nav small", ".chart h3", "#state"):
            assert contrast(page, selector) >= 4.5, selector
        page.find_element("id", "theme").click()
    names = page.execute_script("return [...document.querySelectorAll('button, input, select, [role=img]')].filter((e) => "
                                "!(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).map((e) => e.outerHTML)")
    assert not names


def test_a_graph_folds_and_is_searched(browser, tmp_path):
    nodes = [DrawnNode("x", "input"), *[DrawnNode(f"block{k}/inner/op{i}", "relu", (f"block{k}/inner/op{i - 1}" if i else "x",), "(?, 3)")
                                        for k in range(3) for i in range(20)]]
    GraphDrawing("many", tuple(nodes)).to_html(tmp_path / "graph.html")
    browser.get((tmp_path / "graph.html").as_uri())

    def names():
        return browser.execute_script("return [...document.querySelectorAll('.box')].map((b) => b.dataset.name)")

    assert names() == ["x", "block0", "block1", "block2"]
    browser.find_element("css selector", '[data-name="block1"]').click()
    assert names() == ["x", "block0", "block1/inner", "block2"]
    browser.find_element("css selector", "input").send_keys("block2/inner/op7")
    browser.find_element("css selector", ".found button").click()
    assert "block2/inner/op19" in names() and "block0" in names()
    assert browser.find_element("css selector", ".selected").get_attribute("data-name") == "block2/inner/op7"
    assert "block2/inner/op6" in browser.find_element("css selector", ".details").text
    browser.find_element("css selector", '[aria-label="Fold block2"]').click()
    assert "block2" in names()
    assert not [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]

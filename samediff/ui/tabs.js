// What the tabs show. Each has show(runs): the chosen runs with their records, the first one is looked at closely.
const X = { xaxis: { title: { text: "iteration" } } };
const points = (records, value) => records.map((r) => [r.iteration, value(r)]).filter(([, y]) => typeof y === "number" && Number.isFinite(y));
const titled = (text) => ({ ...X, yaxis: { title: { text } } });
const ask = async (what, query = {}) => {
  const reply = await fetch(`/api/${what}?${new URLSearchParams(query)}`), found = await reply.json();
  if (!reply.ok) throw new Error(found.error);
  return found;
};

// Lines of a kind of number by layer or parameter.
function byName(records, kind, value) {
  const made = {};
  for (const r of records) for (const [name, found] of Object.entries(r[kind] ?? {})) {
    const y = value(found, r, name);
    if (typeof y === "number" && Number.isFinite(y)) (made[name] ??= []).push([r.iteration, y]);
  }
  return made;
}

const ratio = (found, record, name) => Math.log10(found.mean_magnitude / record.parameters?.[name]?.mean_magnitude);

class Overview {
  constructor(host) {
    this.score = new Chart("Score", true);
    this.ratios = new Chart("Update : parameter ratios (log10 of mean magnitudes)");
    this.deviations = ["activations", "gradients", "updates"].map((kind) => [kind, new Chart(`Standard deviations: ${kind} (log10)`)]);
    this.speed = new Chart("Examples per second");
    this.phases = new Chart("Time by phase (ms per iteration)");
    this.rate = new Chart("Learning rate");
    const charts = make("div", "", { class: "charts" });
    charts.append(...[this.score, this.ratios, ...this.deviations.map(([, chart]) => chart), this.rate, this.speed, this.phases].map((c) => c.element));
    host.append(charts);
  }

  show(runs, { smoothing }) {
    const traces = [], rows = [];
    runs.forEach((run) => {
      const found = points(run.records, (r) => r.score), smooth = smoothed(found, smoothing);
      if (!found.length) return;
      const style = { color: colour(run.id) };
      traces.push(line(`${run.label} (as it is)`, found.map((p) => p[0]), found.map((p) => p[1]), { line: { ...style, width: 1 }, opacity: 0.35, showlegend: false }));
      traces.push(line(run.label, smooth.map((p) => p[0]), smooth.map((p) => p[1]), { line: { ...style, width: 2.5 } }));
      found.forEach(([x, y], k) => rows.push([run.label, x, y, smooth[k][1]]));
    });
    this.score.draw(traces, { ...titled("score"), showlegend: runs.length > 1 }, ["run", "iteration", "score", "smoothed"], rows);
    const several = (chart, text, value) => drawLines(chart, Object.fromEntries(runs.map((run) => [run.label, points(run.records, value)])),
      titled(text), (name) => ({ line: { color: colour(runs.find((run) => run.label === name).id) } }));
    several(this.rate, "learning rate", (r) => r.learning_rate);
    several(this.speed, "examples / s", (r) => (r.examples && r.iteration_ms ? (1000 * r.examples) / r.iteration_ms : undefined));
    const records = runs[0]?.records ?? [];
    drawLines(this.ratios, byName(records, "updates", ratio), titled("log10"));
    for (const [kind, chart] of this.deviations) drawLines(chart, byName(records, kind, (found) => Math.log10(found.stdev)), titled("log10"));
    drawLines(this.phases, { data: points(records, (r) => r.etl_ms), training: points(records, (r) => r.iteration_ms - (r.etl_ms ?? 0)),
      recording: points(records, (r) => r.recording_ms) }, titled("ms"), () => ({ stackgroup: "one" }));
  }
}

class Model {
  constructor(host) {
    this.graph = make("div", "", { class: "graph" });
    this.kind = make("select", "", { "aria-label": "Histograms of" }, ...["parameters", "gradients", "updates"].map((kind) => make("option", kind)));
    this.heading = make("h2", "No layer is chosen");
    this.charts = make("div", "", { class: "charts" });
    this.pictures = make("div", "", { class: "pictures" });
    host.append(this.graph, this.heading, make("div", "", { class: "bar" }, make("label", "Histograms of "), this.kind), this.charts, make("h2", "Filters and activations"), this.pictures);
    this.kind.onchange = () => this.showLayer();
  }

  async show(runs) {
    const run = runs[0];
    this.run = run;
    if (!run) return;
    if (this.shownRun !== run.id) {
      const told = await ask("run", { run: run.id });
      this.shownRun = run.id;
      this.node = null;
      if (told.graph) showGraph(this.graph, told.graph, (node) => { this.node = node; this.built = null; this.showLayer(); });
      else this.graph.replaceChildren(make("p", "The drawing of the model was not recorded."));
    }
    const latest = await ask("latest", { run: run.id, what: "pictures" });
    if (this.shownPictures !== `${run.id} ${latest.iteration}`) {
      this.shownPictures = `${run.id} ${latest.iteration}`;
      this.pictures.replaceChildren(...Object.entries(latest.value ?? {}).filter(([, text]) => text).map(([name, text]) => {
        const picture = make("img", "", { src: `data:image/png;base64,${text}`, alt: name });
        return make("figure", "", {}, picture, make("figcaption", `${name}, iteration ${latest.iteration}`));
      }));
      if (!this.pictures.children.length) this.pictures.append(make("p", "A WatchListener records these."));
    }
    await this.showLayer();
  }

  async showLayer() {
    if (!this.node || !this.run) return;
    const kind = this.kind.value, known = new Set(this.run.records.flatMap((r) => Object.keys(r[kind] ?? {})));
    const names = [...known].filter((name) => name === this.node.name || name.startsWith(`${this.node.name}_`));
    if (this.built !== names.join() + kind + this.node.name) {
      this.built = names.join() + kind + this.node.name;
      this.parts = names.map((name) => [name, new Chart(`${name}: histograms of ${kind}`), new Chart(`${name}: mean magnitude of ${kind}`)]);
      this.heading.textContent = `${this.node.name} (${this.node.kind})${names.length ? "" : ": nothing was recorded of it"}`;
      this.charts.replaceChildren(...this.parts.flatMap(([, one, two]) => [one.element, two.element]));
    }
    for (const [name, histograms, sizes] of this.parts) {
      drawLines(sizes, { [name]: byName(this.run.records, kind, (found) => found.mean_magnitude)[name] ?? [] }, titled("mean magnitude"));
      this.drawHistograms(histograms, await ask("histograms", { run: this.run.id, kind, name }));
    }
  }

  drawHistograms(chart, found) {
    if (!found.length) { chart.draw([]); return; }
    const low = Math.min(...found.map((h) => h.min)), high = Math.max(...found.map((h) => h.max)), bins = 40;
    const z = Array.from({ length: bins }, () => found.map(() => 0));
    found.forEach((h, k) => h.counts.forEach((count, b) => {
      const middle = h.min + ((b + 0.5) * (h.max - h.min)) / h.counts.length, total = h.counts.reduce((a, c) => a + c, 0) || 1;
      z[Math.min(bins - 1, Math.floor((bins * (middle - low)) / (high - low || 1)))][k] += count / total;
    }));
    const y = z.map((_, b) => low + ((b + 0.5) * (high - low)) / bins);
    chart.draw([{ type: "heatmap", x: found.map((h) => h.iteration), y, z, colorscale: "Viridis", colorbar: { title: { text: "share" } } }], titled("value"),
      ["iteration", "smallest", "largest", "counts"], found.map((h) => [h.iteration, h.min, h.max, h.counts.join(" ")]));
  }
}

class System {
  constructor(host) {
    this.memory = new Chart("Memory of the process (MB)");
    this.cores = new Chart("Cores in use");
    this.tables = make("div");
    host.append(make("div", "", { class: "charts" }, this.memory.element, this.cores.element), this.tables);
  }

  async show(runs) {
    const colours = (name) => ({ line: { color: colour(runs.find((run) => run.label === name).id) } });
    const busy = (records) => records.slice(1).map((r, k) => [r.iteration, (r.cpu_seconds - records[k].cpu_seconds) / (r.time - records[k].time)]).filter(([, y]) => Number.isFinite(y));
    drawLines(this.memory, Object.fromEntries(runs.map((run) => [run.label, points(run.records, (r) => r.memory_mb)])), titled("MB"), colours);
    drawLines(this.cores, Object.fromEntries(runs.map((run) => [run.label, busy(run.records.filter((r) => r.cpu_seconds !== undefined))])), titled("cores"), colours);
    const key = runs.map((run) => run.id).join();
    if (this.key === key) return;
    const told = await Promise.all(runs.map((run) => ask("run", { run: run.id })));
    const side = (part, caption) => {
      const names = [...new Set(told.flatMap((t) => Object.keys(t[part] ?? {})))];
      return tableOf(["", ...runs.map((run) => run.label)], names.map((name) => [name, ...told.map((t) => t[part]?.[name] ?? "")]), caption);
    };
    this.tables.replaceChildren(side("environment", "Environment"), side("hyperparameters", "Hyperparameters"));
    this.key = key;
  }
}

// A choice among the iterations at which something was recorded; the last one as long as nobody chooses.
class Moment {
  constructor(label, changed) {
    this.input = make("input", "", { type: "range", min: 0, max: 0, value: 0, "aria-label": label });
    this.text = make("output");
    this.element = make("div", "", { class: "bar" }, make("label", label), this.input, this.text);
    this.input.oninput = () => { this.chosen = this.iterations[this.input.value]; changed(); };
  }

  async get(run, what) {
    if (this.run !== run.id) { this.run = run.id; this.chosen = undefined; }
    const found = await ask("latest", { run: run.id, what, ...(this.chosen === undefined ? {} : { iteration: this.chosen }) });
    this.iterations = found.iterations;
    this.input.max = Math.max(0, found.iterations.length - 1);
    this.input.value = found.iterations.indexOf(found.iteration);
    this.text.textContent = found.iteration === null ? "nothing yet" : `iteration ${found.iteration}`;
    if (found.iteration === found.iterations.at(-1)) this.chosen = undefined;
    return found.value;
  }
}

class Evaluations {
  constructor(host) {
    this.moment = new Moment("After ", () => this.show(this.runs));
    this.course = new Chart("Measures");
    this.confusion = new Chart("Confusion matrix");
    this.curves = [["roc", new Chart("ROC"), "fpr", "tpr", "false positive rate", "true positive rate"],
      ["precision_recall", new Chart("Precision and recall"), "recall", "precision", "recall", "precision"],
      ["calibration", new Chart("Calibration"), "x", "y", "mean predicted probability", "share of positives"]];
    host.append(this.moment.element, make("div", "", { class: "charts" }, this.course.element, this.confusion.element, ...this.curves.map((c) => c[1].element)));
  }

  async show(runs) {
    this.runs = runs;
    const run = runs[0];
    if (!run) return;
    const names = [...new Set(run.records.flatMap((r) => Object.keys(r.evaluation ?? {})))];
    drawLines(this.course, Object.fromEntries(names.map((name) => [name, points(run.records, (r) => r.evaluation?.[name])])), X);
    const found = (await this.moment.get(run, "evaluation")) ?? {};
    const called = found.names ?? [], table = found.confusion;
    this.confusion.draw(table ? [{ type: "heatmap", x: called, y: called, z: table, text: table.map((row) => row.map(String)), texttemplate: called.length < 21 ? "%{text}" : "",
      colorscale: "Blues", reversescale: true, showscale: false }] : [], { xaxis: { title: { text: "predicted" }, type: "category" },
      yaxis: { title: { text: "actual" }, type: "category", autorange: "reversed" } }, ["actual \\ predicted", ...called], (table ?? []).map((row, k) => [called[k], ...row]));
    for (const [key, chart, x, y, below, beside] of this.curves) {
      const lines = Object.fromEntries(Object.entries(found[key] ?? {}).map(([name, c]) => [c.auc === undefined ? name : `${name} (area ${c.auc.toFixed(3)})`, c[x].map((v, k) => [v, c[y][k]])]));
      drawLines(chart, lines, { xaxis: { title: { text: below }, range: [-0.02, 1.02] }, yaxis: { title: { text: beside }, range: [-0.02, 1.02] } });
    }
  }
}

class Embedding {
  constructor(host) {
    this.moment = new Moment("After ", () => this.show(this.runs));
    this.chart = new Chart("Activations as points of a plane", true);
    this.chart.plot.style.height = "520px";
    host.append(this.moment.element, make("div", "", { class: "charts" }, this.chart.element));
  }

  async show(runs) {
    this.runs = runs;
    const run = runs[0], found = run && (await this.moment.get(run, "embedding"));
    if (!found) { this.chart.draw([]); return; }
    const labels = [...new Set(found.labels)].sort((a, b) => a - b);
    const name = (label) => found.names[label] ?? String(label);
    const traces = labels.map((label, k) => {
      const mine = found.points.filter((_, i) => found.labels[i] === label);
      return { type: "scatter", mode: "markers", name: name(label), x: mine.map((p) => p[0]), y: mine.map((p) => p[1]), marker: { color: colour(k), symbol: k % 8, size: 8 } };
    });
    this.chart.draw(traces, { showlegend: true, xaxis: { title: { text: `${found.method} of layer ${found.layer}, first axis` } }, yaxis: { title: { text: "second axis" } } },
      ["class", "first", "second"], found.points.map((p, i) => [name(found.labels[i]), ...p]));
  }
}

// Charts of Plotly with a table behind each, in the colours of the page.
const COLOURS = ["#2f81f7", "#d9730d", "#2da44e", "#bf4b8a", "#8250df", "#0a8a8a", "#b08800", "#cf222e", "#57606a", "#6f42c1"];
const colour = (k) => COLOURS[k % COLOURS.length];

function make(tag, text, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function number(value) {
  if (typeof value !== "number") return String(value ?? "");
  return Number.isInteger(value) ? String(value) : value.toPrecision(5).replace(/\.?0+(e|$)/, "$1");
}

function tableOf(head, rows, caption = "") {
  const table = make("table"), top = make("tr");
  if (caption) table.append(make("caption", caption));
  top.append(...head.map((name) => make("th", name, { scope: "col" })));
  table.append(make("thead", "", {}, top));
  const body = make("tbody");
  for (const row of rows) {
    const line = make("tr");
    line.append(...row.map((cell) => make("td", number(cell), typeof cell === "number" ? { class: "number" } : {})));
    body.append(line);
  }
  table.append(body);
  return table;
}

function themed(layout) {
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
  const axis = { gridcolor: get("--area"), zerolinecolor: get("--line"), linecolor: get("--line"), automargin: true };
  const made = { margin: { t: 32, r: 14, b: 40, l: 56 }, paper_bgcolor: get("--back"), plot_bgcolor: get("--back"),
    font: { color: get("--text"), size: 12 }, legend: { orientation: "h", y: -0.34 }, hovermode: "closest", ...layout };
  made.xaxis = { ...axis, ...layout.xaxis };
  if (made.xaxis.title) made.xaxis.title = { standoff: 6, ...made.xaxis.title };        // the legend, which may be high, stands below
  made.yaxis = { ...axis, ...layout.yaxis };
  return made;
}

const LONGEST_LINE = 2000;

// A line of Plotly of at most so many points, which are at equal distances.
function line(name, x, y, options = {}) {
  const step = Math.ceil(x.length / LONGEST_LINE) || 1;
  const chosen = (list) => (step === 1 ? list : list.filter((_, k) => k % step === 0 || k === list.length - 1));
  return { type: "scatter", mode: x.length < 3 ? "lines+markers" : "lines", name, x: chosen(x), y: chosen(y), ...options };
}

// A part of a page with a chart; draw(traces, layout, head, rows) shows it anew.
class Chart {
  constructor(title, wide = false) {
    this.plot = make("div", "", { class: "plot", role: "img", "aria-label": title });
    this.note = make("p", "", { class: "note" });
    this.table = make("div", "", { class: "scroll", tabindex: "0" });
    this.details = make("details", "", {}, make("summary", "Numbers"), this.table);
    this.element = make("section", "", { class: `chart${wide ? " wide" : ""}`, "data-title": title }, make("h3", title), this.note, this.plot, this.details);
    this.details.ontoggle = () => this.fill();
  }

  draw(traces, layout = {}, head = [], rows = []) {
    this.rows = [head, rows];
    const empty = !traces.length;
    this.plot.hidden = this.details.hidden = empty;
    this.note.textContent = empty ? "Nothing was recorded for this." : "";
    if (!empty) Plotly.react(this.plot, traces, themed(layout), { responsive: true, displaylogo: false });
    this.fill();
  }

  fill() {
    if (!this.details.open || !this.rows) return;
    const [head, rows] = this.rows;
    const shown = rows.slice(-200);
    this.table.replaceChildren(tableOf(head, shown, rows.length > shown.length ? `the last ${shown.length} of ${rows.length} rows` : ""));
  }
}

// Lines by name ({name: [[x, y], ...]}) with the table of them.
function drawLines(chart, series, layout = {}, options = () => ({})) {
  const names = Object.keys(series).filter((name) => series[name].length);
  const traces = names.map((name, k) => line(name, series[name].map((p) => p[0]), series[name].map((p) => p[1]),
    { line: { color: colour(k) }, ...options(name, k) }));
  const rows = new Map();
  for (const name of names) for (const [x, y] of series[name]) {
    if (!rows.has(x)) rows.set(x, {});
    rows.get(x)[name] = y;
  }
  const ordered = [...rows.keys()].sort((a, b) => a - b);
  chart.draw(traces, { showlegend: names.length > 1, ...layout }, [layout.xaxis?.title?.text ?? "iteration", ...names],
    ordered.map((x) => [x, ...names.map((name) => rows.get(x)[name])]));
}

function smoothed(points, weight) {
  let last = null, scale = 0;
  return points.map(([x, y]) => {
    last = (last ?? 0) * weight + y * (1 - weight);
    scale = scale * weight + (1 - weight);
    return [x, last / scale];
  });
}

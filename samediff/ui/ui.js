// The page: runs, tabs, live updates, light and dark.
const EVERY = 1000;         // ms between two looks at the server
const settings = { smoothing: 0.6 };
const runs = new Map();     // by number: {id, label, chosen, records, next}
const panels = [...document.querySelectorAll("[role=tabpanel]")];
const tabs = [...document.querySelectorAll("[role=tab]")];
const views = { overview: Overview, model: Model, system: System, evaluation: Evaluations, embedding: Embedding };
for (const panel of panels) views[panel.id] = new views[panel.id](panel);
const state = document.getElementById("state");
const active = () => tabs.find((tab) => tab.getAttribute("aria-selected") === "true").getAttribute("aria-controls");
const chosen = () => [...runs.values()].filter((run) => run.chosen);

let again = false, busy = false;
async function show() {         // one at a time; what is asked for meanwhile is shown afterwards
  if (busy) { again = true; return; }
  busy = true;
  try {
    do { again = false; await views[active()].show(chosen(), settings); } while (again);
    document.body.dataset.shown = String(Number(document.body.dataset.shown ?? 0) + 1);
  } finally { busy = false; }
}

function choose(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
  }
  for (const panel of panels) panel.hidden = panel.id !== tab.getAttribute("aria-controls");
  history.replaceState(null, "", `#${active()}`);          // without moving the focus
  show();
}

tabs.forEach((tab, k) => {
  tab.onclick = () => choose(tab);
  tab.onkeydown = (event) => {
    const to = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    choose(next);
  };
});

document.getElementById("smoothing").oninput = (event) => { settings.smoothing = Number(event.target.value); show(); };
const dark = () => document.documentElement.dataset.theme === "dark";
function theme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("dl4py-theme", name);
  show();
}
document.getElementById("theme").onclick = () => theme(dark() ? "light" : "dark");
document.documentElement.dataset.theme = localStorage.getItem("dl4py-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

function list(found) {
  const host = document.getElementById("runs");
  for (const run of runs.values()) {          // no longer attached
    if (found.some((one) => one.id === run.id)) continue;
    run.line.remove();
    runs.delete(run.id);
  }
  for (const one of found) {
    let run = runs.get(one.id);
    if (!run) {
      const box = make("input", "", { type: "checkbox" }), small = make("small");
      const name = one.session || one.source, label = [...runs.values()].some((other) => other.label === name) ? `${name} #${one.id}` : name;
      run = { id: one.id, label, chosen: one === found.at(-1), records: [], next: 0, small };
      box.checked = run.chosen;
      box.onchange = () => { run.chosen = box.checked; update(); };
      const swatch = make("span", "", { class: "swatch" });
      swatch.style.background = colour(one.id);
      run.line = make("label", "", {}, box, swatch, document.createTextNode(run.label), small);
      host.append(run.line);
      runs.set(one.id, run);
    }
    run.small.textContent = `${one.model ?? ""} ${one.source}, iteration ${one.iteration}`;
  }
  if (!found.length) host.textContent = "No run has recorded anything yet.";
  else for (const node of [...host.childNodes]) if (node.nodeType === Node.TEXT_NODE) node.remove();
}

async function update() {
  const found = await ask("runs");
  list(found);
  let changed = !document.body.dataset.shown;
  for (const run of chosen()) {
    for (;;) {
      const part = await ask("records", { run: run.id, since: run.next });
      run.records.push(...part.records);
      run.next = part.next;
      if (!part.records.length) break;
      changed = true;
    }
  }
  const key = chosen().map((run) => run.id).join();
  if (changed || key !== update.key) { update.key = key; await show(); }
}

async function live() {
  try {
    await update();
    state.textContent = "live";
  } catch (error) {
    state.textContent = `not live: ${error.message}`;
  }
  setTimeout(live, EVERY);
}

const start = tabs.find((tab) => `#${tab.getAttribute("aria-controls")}` === location.hash);
if (start) choose(start);
live();

// Draws a graph in layers: scopes fold, nodes are found by name, a click or Enter shows what is known of one.
function showGraph(host, drawing, onSelect) {
  const nodes = new Map(drawing.nodes.map((node) => [node.name, node]));
  const scopesOf = (name) => name.split("/").slice(0, -1).map((_, k, parts) => parts.slice(0, k + 1).join("/"));
  const scopes = new Set(drawing.nodes.flatMap((node) => scopesOf(node.name)).filter((scope) => !nodes.has(scope)));
  const open = new Set(drawing.nodes.length <= 40 ? scopes : []);
  let selected = null;

  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const draw = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  host.replaceChildren();
  const search = make("input", "", { type: "search", placeholder: "Find a node", "aria-label": "Find a node" });
  const all = make("button", "Unfold all"), none = make("button", "Fold all");
  const found = make("ul", "", { class: "found", "aria-label": "Nodes found" });
  const chips = make("div", "", { class: "chips" });
  const canvas = make("div", "", { class: "canvas", tabindex: "0", "aria-label": "Graph" });
  const details = make("div", "", { class: "details", "aria-live": "polite" });
  const bar = make("div", "", { class: "bar" });
  bar.append(search, ...(scopes.size ? [all, none] : []));
  host.append(bar, found, chips, canvas, details);
  all.onclick = () => { scopes.forEach((scope) => open.add(scope)); render(); };
  none.onclick = () => { open.clear(); render(); };

  const shown = (name) => scopesOf(name).find((scope) => scopes.has(scope) && !open.has(scope)) ?? name;

  function layout() {
    const boxes = new Map();
    for (const node of drawing.nodes) {
      const name = shown(node.name);
      if (!boxes.has(name)) boxes.set(name, { name, inputs: new Set(), count: 0, rank: 0, folded: name !== node.name });
      const box = boxes.get(name);
      box.count += 1;
      for (const input of node.inputs) {
        const source = shown(input);
        if (source !== name && (nodes.has(input))) box.inputs.add(source);
      }
    }
    const placed = new Set();
    for (const box of boxes.values()) {
      for (const input of box.inputs) if (placed.has(input)) box.rank = Math.max(box.rank, boxes.get(input).rank + 1);
      placed.add(box.name);
    }
    for (const box of boxes.values()) {        // what reads nothing stands right above its reader
      if (box.inputs.size) continue;
      const readers = [...boxes.values()].filter((other) => other.inputs.has(box.name)).map((other) => other.rank);
      if (readers.length) box.rank = Math.max(0, Math.min(...readers) - 1);
    }
    const layers = [];
    for (const box of boxes.values()) (layers[box.rank] ??= []).push(box);
    const place = () => layers.forEach((layer) => layer?.forEach((box, k) => { box.order = k - layer.length / 2; }));
    const mean = (list, otherwise) => (list.length ? list.reduce((a, b) => a + b, 0) / list.length : otherwise);
    place();
    for (let sweep = 0; sweep < 4; sweep += 1) {
      for (const layer of layers) {
        if (!layer) continue;
        for (const box of layer) {
          const near = [...box.inputs].map((name) => boxes.get(name).order);
          if (sweep % 2) for (const other of boxes.values()) if (other.inputs.has(box.name)) near.push(other.order);
          box.key = mean(near, box.order);
        }
        layer.sort((a, b) => a.key - b.key);
      }
      place();
    }
    return { boxes, layers: layers.filter(Boolean) };
  }

  function texts(box) {
    if (box.folded) return [box.name.split("/").pop(), `${box.count} nodes`];
    const node = nodes.get(box.name);
    return [node.name.split("/").pop(), node.kind, node.shape].filter(Boolean);
  }

  function render() {
    const { boxes, layers } = layout();
    const gap = 24, rise = 46;
    let top = 12, width = 0;
    for (const layer of layers) {
      let left = gap, height = 0;
      for (const box of layer) {
        box.texts = texts(box);
        box.w = 24 + 7 * Math.max(...box.texts.map((text) => text.length));
        box.h = 12 + 16 * box.texts.length;
        box.x = left; box.y = top;
        left += box.w + gap; height = Math.max(height, box.h);
      }
      layer.width = left; width = Math.max(width, left); top += height + rise;
    }
    for (const layer of layers) for (const box of layer) box.x += (width - layer.width) / 2;
    const svg = draw("svg", { width, height: top, viewBox: `0 0 ${width} ${top}`, role: "group", "aria-label": drawing.title });
    for (const box of boxes.values()) {
      for (const name of box.inputs) {
        const from = boxes.get(name);
        const [x1, y1, x2, y2] = [from.x + from.w / 2, from.y + from.h, box.x + box.w / 2, box.y];
        svg.append(draw("path", { class: "edge", d: `M${x1} ${y1} C${x1} ${y1 + 20} ${x2} ${y2 - 20} ${x2} ${y2}` }));
      }
    }
    for (const box of boxes.values()) {
      const kind = box.folded ? "scope" : nodes.get(box.name).inputs.length ? "node" : "leaf";
      const group = draw("g", { class: `box ${kind}${box.name === selected ? " selected" : ""}`, tabindex: 0, role: "button",
        "data-name": box.name, "aria-label": box.texts.join(", ") });
      group.append(draw("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: 5 }));
      box.texts.forEach((text, k) => group.append(draw("text", { x: box.x + box.w / 2, y: box.y + 20 + 16 * k, class: k ? "small" : "" }, text)));
      const act = () => (box.folded ? (open.add(box.name), render()) : select(box.name));
      group.onclick = act;
      group.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } };
      svg.append(group);
    }
    canvas.replaceChildren(svg);
    const unfolded = [...scopes].filter((scope) => open.has(scope));
    chips.replaceChildren(...unfolded.map((scope) => {
      const chip = make("button", `${scope} ×`, { "aria-label": `Fold ${scope}` });
      chip.onclick = () => { open.delete(scope); render(); };
      return chip;
    }));
  }

  function select(name) {
    selected = name;
    scopesOf(name).forEach((scope) => open.add(scope));
    render();
    const node = nodes.get(name);
    const rows = [["kind", node.kind], ["shape", node.shape], ["reads", node.inputs.join(", ")],
      ["read by", drawing.nodes.filter((other) => other.inputs.includes(name)).map((other) => other.name).join(", ")],
      ...Object.entries(node.details)].filter(([, value]) => value);
    const table = make("table"), caption = make("caption", name);
    table.append(caption, ...rows.map(([key, value]) => {
      const row = make("tr");
      row.append(make("th", key, { scope: "row" }), make("td", value));
      return row;
    }));
    details.replaceChildren(table);
    canvas.querySelector(".selected")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    onSelect?.(node);
  }

  search.oninput = () => {
    const word = search.value.trim().toLowerCase();
    const hits = word ? drawing.nodes.filter((node) => `${node.name} ${node.kind}`.toLowerCase().includes(word)).slice(0, 20) : [];
    found.replaceChildren(...hits.map((node) => {
      const item = make("li"), button = make("button", `${node.name} (${node.kind})`);
      button.onclick = () => select(node.name);
      item.append(button);
      return item;
    }));
  };
  search.onkeydown = (event) => { if (event.key === "Enter") found.querySelector("button")?.click(); };
  render();
  return { select };
}

/* The chosen node: its facts, the way back to its dtype, its neighbours drawn and as a table. */
const near = (() => {
  const MOST = 12;
  const WIDE = 720;
  const part = document.getElementById("node");

  const short = (text, width, letter) => { // the middle of a long name says least
    const most = Math.max(6, Math.floor(width / letter));
    if (text.length <= most) return text;
    const head = Math.ceil(most / 3) - 1;
    return `${text.slice(0, head)}…${text.slice(text.length - (most - head - 1))}`;
  };
  const said = (casts, dtype) => {
    if (!casts.length) return dtype || "-";
    const way = [casts[0].from, ...casts.map((cast) => cast.to)].join(" → ");
    return `${way} (Cast${casts.some((cast) => cast.folded) ? ", folded" : ""})`;
  };
  const dtypeOf = (edge) => graph.state(edge.consumer).inputs[edge.input];
  const fedBy = (edge) => (edge.casts.length ? edge.casts[0].from : dtypeOf(edge));

  const box = (x, y, width, height, node, lines, extra = "") => {
    const marked = (graph.comparison && graph.comparison.changed.has(node)) || (graph.back && graph.back.differs.has(node));
    const texts = [graph.name(node), graph.type(node), ...lines].map((line, at) => (
      draw("text", { x: x + 16, y: y + 19 + 16 * at, class: at ? "quiet" : "name" }, short(line, width - 24, at ? 6.4 : 7.2))));
    return draw("a", { href: `#n${node}`, class: `box ${extra}${marked ? " marked" : ""}` },
      draw("title", {}, `${graph.name(node)} (${graph.type(node)})`),
      draw("rect", { x, y, width, height, rx: 6, class: "frame" }),
      draw("rect", { x: x + 4, y: y + 5, width: 6, height: height - 10, rx: 3, class: graph.state(node).dtype }),
      ...texts);
  };
  const diamond = (edge, x, y) => { // a Cast; an empty one is folded
    if (!edge.casts.length) return [];
    const folded = edge.casts.every((cast) => cast.folded);
    return [draw("path", { class: `cast${folded ? " folded" : ""}`, d: `M${x} ${y - 7}l7 7l-7 7l-7 -7z` })];
  };
  const line = (from, to, edge) => { // in the colour of each dtype, with a diamond for a Cast
    const [x1, y1] = from;
    const [x2, y2] = to;
    const half = [(x1 + x2) / 2, (y1 + y2) / 2];
    const bend = (x2 - x1) / 4;
    const found = [
      draw("path", { class: `edge ${dtypeClass(fedBy(edge))}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${half[0] - bend / 2} ${(y1 + half[1]) / 2} ${half.join(" ")}` }),
      draw("path", { class: `edge ${dtypeClass(dtypeOf(edge))}`, d: `M${half.join(" ")}C${half[0] + bend / 2} ${(y2 + half[1]) / 2} ${x2 - bend} ${y2} ${x2} ${y2}` }),
    ];
    return draw("g", {}, ...found, ...diamond(edge, ...half));
  };

  const wide = (node, before, after, width) => {
    const gap = 110;
    const each = Math.min(320, (width - 2 * gap) / 3);
    const step = 74;
    const height = Math.max(before.length, after.length, 1) * step;
    const middle = { x: each + gap, y: height / 2 - 32 };
    const at = (index, all) => (height - all.length * step) / 2 + index * step + 5;
    const port = (index, all) => middle.y + ((index + 1) * 64) / (all.length + 1);
    const found = [];
    before.forEach((edge, index) => {
      const y = at(index, before);
      found.push(line([each, y + 32], [middle.x, port(index, before)], edge));
      found.push(box(0, y, each, 64, edge.producer, [`input ${edge.input}: ${said(edge.casts, dtypeOf(edge))}`]));
    });
    after.forEach((edge, index) => {
      const y = at(index, after);
      found.push(line([middle.x + each, port(index, after)], [middle.x + each + gap, y + 32], edge));
      found.push(box(middle.x + each + gap, y, each, 64, edge.consumer, [`output ${edge.output}: ${said(edge.casts, dtypeOf(edge))}`]));
    });
    found.push(box(middle.x, middle.y, each, 64, node, [graph.state(node).outputs.join(", ") || "-"], "own "));
    return draw("svg", { viewBox: `0 0 ${3 * each + 2 * gap} ${height}`, width: 3 * each + 2 * gap, height, role: "group", "aria-label": "Neighbours" }, ...found);
  };
  const narrow = (node, before, after, width) => { // producers above, consumers below
    const found = [];
    const own = before.length * 74;
    const rail = (edge, from, to, at) => draw("g", {},
      draw("path", { class: `edge ${dtypeClass(dtypeOf(edge))}`, d: `M20 ${from}H8V${to}H20` }), ...diamond(edge, 9, at));
    before.forEach((edge, index) => {
      found.push(rail(edge, index * 74 + 32, own + 24, index * 74 + 32));
      found.push(box(20, index * 74, width - 23, 64, edge.producer, [`input ${edge.input}: ${said(edge.casts, dtypeOf(edge))}`]));
    });
    after.forEach((edge, index) => {
      const y = own + 74 * (index + 1);
      found.push(rail(edge, own + 40, y + 32, y + 32));
      found.push(box(20, y, width - 23, 64, edge.consumer, [`output ${edge.output}: ${said(edge.casts, dtypeOf(edge))}`]));
    });
    found.push(box(20, own, width - 23, 64, node, [graph.state(node).outputs.join(", ") || "-"], "own "));
    const height = own + 74 * (after.length + 1);
    return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Neighbours" }, ...found);
  };

  const facts = (node) => {
    const state = graph.state(node);
    const rows = [["Op type", graph.type(node)], ["Runs", state.runs || graph.others]];
    if (graph.subgraph(node)) rows.push(["Subgraph", graph.subgraph(node)]);
    if (state.list) rows.push(["List", state.list]);
    if (state.confidence) rows.push(["Columns", state.confidence]);
    rows.push(["Node", `${graph.place[node] + 1} of ${graph.count}`]);
    const pill = (word) => make("span", { class: `list ${word === graph.others ? "nothing" : word}` }, word);
    return make("dl", {}, ...rows.map(([key, value]) => (
      make("div", {}, make("dt", {}, key), make("dd", {}, key === "Runs" || key === "List" ? pill(value) : value)))));
  };
  const way = (node) => {
    const steps = graph.path(node);
    const shown = steps.slice(0, 20);
    const items = shown.map((step, at) => make("li", {}, at ? nodeLink(step) : graph.name(step), `: ${graph.why(step)}`));
    if (steps.length > shown.length) items.push(make("li", {}, `${steps.length - shown.length} more steps, to `, nodeLink(steps[steps.length - 1])));
    return make("ol", { class: "way" }, ...items);
  };
  const differences = (node) => {
    const found = [];
    const other = graph.other(node);
    if (other) {
      found.push(make("p", {}, make("b", {}, `B (${graph.comparison.label}): `), "inputs ", ...dtypePills(other.state.inputs), " outputs ", ...dtypePills(other.state.outputs), ` ${other.why}`));
    }
    const differs = graph.back && graph.back.differs.get(node);
    if (differs) {
      const [name, type, inputs, outputs] = differs;
      found.push(make("p", {}, make("b", {}, "Compiled: "), `${name} (${type}), inputs `, ...dtypePills(inputs), " outputs ", ...dtypePills(outputs)));
    }
    const unmatched = graph.back && graph.back.unmatched.get(node);
    if (unmatched) found.push(make("p", {}, make("b", {}, "Not compared: "), unmatched));
    if (graph.removed.has(node)) found.push(make("p", {}, "The engine takes this Cast out together with one that it inserts."));
    return found;
  };
  const castWords = (edge) => {
    const words = edge.casts.map((cast) => `${cast.from} → ${cast.to}${cast.folded ? ", folded" : ""}`);
    words.push(...edge.gone.map(() => "not in B"), ...edge.added.map((cast) => `in B: ${cast.from} → ${cast.to}`));
    return words.join("; ") || "-";
  };
  const tensors = (node) => {
    const state = graph.state(node);
    const titles = ["tensor", "from", "before", "dtype", "Cast"];
    const row = (...cells) => make("tr", {}, ...cells.map((cell, at) => (
      make(at ? "td" : "th", at ? { "data-of": titles[at] } : { scope: "row" }, ...[cell].flat()))));
    const rows = graph.inputs(node).slice(0, 60).map((edge) => row(
      `input ${edge.input}`,
      edge.producer < 0 ? "-" : [nodeLink(edge.producer), edge.output ? `, output ${edge.output}` : ""],
      state.firstInputs[edge.input] || "-", dtypePills([state.inputs[edge.input]]), castWords(edge)));
    rows.push(...state.outputs.slice(0, 60).map((dtype, at) => (
      row(`output ${at}`, "-", state.firstOutputs[at] || "-", dtypePills([dtype]), "-"))));
    const heads = titles.map((title) => make("th", { scope: "col" }, title));
    return make("details", { open: "" }, make("summary", {}, "Tensors"), make("div", { class: "sheet" }, make("table", {},
      make("caption", {}, "Tensors"), make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows))));
  };

  let shown = -1;
  const render = (node) => {
    shown = node;
    const fed = graph.inputs(node).filter((edge) => edge.producer >= 0);
    const read = graph.consumers(node);
    const style = getComputedStyle(part);
    const width = Math.max(240, part.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    const picture = (width >= WIDE ? wide : narrow)(node, fed.slice(0, MOST), read.slice(0, MOST), width);
    const left = [[fed.length - MOST, "more inputs"], [read.length - MOST, "more readers"]].filter(([more]) => more > 0);
    const more = left.map(([each, what]) => `${each} ${what}`).join(", ");
    part.replaceChildren(
      make("h2", {}, graph.name(node)), facts(node), way(node), ...differences(node),
      make("div", { class: "near" }, picture),
      ...(more ? [make("p", {}, `${more} are not drawn. `, make("button", { type: "button", class: "all" }, "List all neighbours"))] : []),
      tensors(node));
    const all = part.querySelector("button.all");
    if (all) all.addEventListener("click", () => dispatchEvent(new CustomEvent("neighbours", { detail: node })));
  };
  return {
    show: (node) => { part.hidden = false; render(node); },
    hide: () => { part.hidden = true; shown = -1; },
    redraw: () => { if (shown >= 0) render(shown); },
    focus: () => { part.focus({ preventScroll: true }); part.scrollIntoView({ block: "start" }); },
  };
})();

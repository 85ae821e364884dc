/* The table of nodes: searched and filtered as a whole, shown in parts. */
const nodeTable = (() => {
  const SOME = 200;
  const part = document.getElementById("nodes");
  const tools = part.querySelector("form");
  const body = part.querySelector("tbody");
  const more = part.querySelector(".more");
  const status = part.querySelector("[role=status]");
  const compared = Boolean(graph.comparison || graph.back);
  const titles = ["node", "op type", "runs", "outputs", ...(compared ? [graph.comparison ? "B" : "compiled"] : []), "list", "why"];
  part.querySelector("thead").append(make("tr", {}, ...titles.map((title) => make("th", { scope: "col", class: `c-${title.replace(" ", "-")}` }, title))));

  const { state: stateOf, reason: reasonOf } = graph.raw;
  const counts = (column, values) => {
    const found = new Int32Array(values.length);
    column.forEach((number) => { found[number] += 1; });
    return found;
  };
  const shared = (column, values, test) => { // a filter on what many nodes share
    const fits = values.map(test);
    return { test: (node) => fits[column[node]], count: counts(column, values).reduce((sum, each, at) => sum + (fits[at] ? each : 0), 0) };
  };
  const byState = (test) => shared(stateOf, graph.states, test);
  const byNode = (nodes) => ({ test: (node) => nodes.has(node), count: nodes.size });
  const none = new Set();
  const groups = [
    ["Runs", [["low", byState((state) => state.runs === "low")], ["high", byState((state) => state.runs === "high")],
      [graph.others, byState((state) => !state.runs)]]],
    ["List", ["white", "black", "gray"].map((word) => [word, byState((state) => state.list === word)])],
    ["Only", [["with a Cast", byNode(graph.withCast)], ["assumed", byState((state) => state.confidence === "assumed")],
      ["first column", shared(reasonOf, graph.raw.reasons, ([before]) => before.startsWith("first column"))],
      ["other dtypes in B", byNode(graph.comparison ? graph.comparison.changed : none)],
      ["differs", byNode(graph.back ? graph.back.differs : none)],
      ["not compared", byNode(graph.back ? graph.back.unmatched : none)]]],
  ];
  const filters = [];
  for (const [label, tags] of groups) {
    const boxes = tags.filter(([, { count }]) => count > 0).map(([tag, { test, count }]) => {
      const input = make("input", { type: "checkbox", value: tag });
      filters.push({ label, input, test });
      return make("label", {}, input, make("span", {}, `${tag} `, make("b", {}, String(count))));
    });
    if (boxes.length) part.querySelector(".choices").append(make("fieldset", {}, make("legend", {}, label), ...boxes));
  }

  const lower = (texts) => texts.map((text) => text.toLowerCase());
  const folders = lower(graph.raw.folders);
  const bases = lower(graph.raw.bases);
  const types = lower(graph.raw.types);
  const words = graph.states.map((state) => [...state.inputs, ...state.outputs, state.list, state.runs].filter(Boolean).join(" "));
  const matcher = (word) => { // parts that many nodes share are looked at once
    const inType = types.map((each) => each.includes(word));
    const inState = words.map((each) => each.includes(word));
    const { folder, base, type, state } = graph.raw;
    return (node) => inType[type[node]] || inState[state[node]] || (folders[folder[node]] + bases[base[node]]).includes(word);
  };

  const idle = new Set(graph.raw.idle); // types that compute nothing: they stand below the others
  const isIdle = (node) => idle.has(graph.raw.type[node]);
  const listed = [...graph.order.filter((node) => !isIdle(node)), ...graph.order.filter(isIdle)];
  let only = null; // a set of nodes, while neighbours of one are listed
  let found = [];
  let upto = 0;
  const search = () => {
    const tests = tools.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean).map(matcher);
    const chosen = new Map();
    for (const { label, input, test } of filters) if (input.checked) chosen.set(label, [...(chosen.get(label) || []), test]);
    const choices = Array.from(chosen.values());
    found = listed.filter((node) => (!only || only.has(node)) && tests.every((test) => test(node)) && choices.every((any) => any.some((test) => test(node))));
    body.replaceChildren();
    upto = 0;
    grow();
  };
  const pill = (word) => (word ? make("span", { class: `list ${word}` }, word) : "-");
  const instead = (node) => {
    const other = graph.other(node);
    const differs = graph.back && graph.back.differs.get(node);
    return other ? dtypePills(other.state.outputs) : differs ? dtypePills(differs[3]) : [""];
  };
  const row = (node) => {
    const state = graph.state(node);
    const cell = (title, ...children) => make("td", { class: `c-${title}`, "data-of": title.replace("-", " ") }, ...children);
    return make("tr", {},
      make("th", { scope: "row", class: "c-node" }, nodeLink(node)), cell("op-type", graph.type(node)),
      cell("runs", pill(state.runs)), cell("outputs", ...(isIdle(node) ? [state.outputs.join(", ") || "-"] : dtypePills(state.outputs))),
      ...(compared ? [cell(graph.comparison ? "B" : "compiled", ...instead(node))] : []), cell("list", pill(state.list)), cell("why", graph.why(node)));
  };
  const grow = () => {
    const next = found.slice(upto, upto + SOME);
    body.append(...next.map(row));
    upto += next.length;
    const left = found.length - upto;
    more.hidden = left === 0;
    more.firstChild.textContent = `Show ${Math.min(left, SOME)} more of ${left}`;
    more.dataset.left = `${left} more nodes are not printed: the page shows them.`;
    const of = found.length === graph.count ? `${graph.count} nodes` : `${found.length} of ${graph.count} nodes`;
    status.textContent = left ? `${of}; the first ${upto} are shown` : of;
  };

  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(search, graph.count > 5000 ? 150 : 0); };
  tools.addEventListener("input", (event) => { if (event.target.type === "search") only = null; soon(); });
  tools.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  more.firstChild.addEventListener("click", grow);
  const ask = (text, nodes = null) => {
    tools.elements.search.value = text;
    for (const { input } of filters) input.checked = false;
    only = nodes;
    search();
    tools.elements.search.focus({ preventScroll: true });
    part.scrollIntoView({ block: "start" });
  };
  part.hidden = false;
  search();
  return { ask };
})();

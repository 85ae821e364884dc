/* What is chosen stands in the address (#n12), so that the browser's history and links work. */
(() => {
  const chosen = () => {
    const match = /^#n(\d+)$/.exec(location.hash);
    const node = match ? Number(match[1]) : -1;
    return node < graph.count ? node : -1;
  };
  const svg = document.querySelector("svg.ribbon");
  const strip = document.querySelector("div.ribbon");
  const bins = svg ? svg.viewBox.baseVal.width : 1;
  const height = svg ? svg.viewBox.baseVal.height : 0;
  const cursor = draw("rect", { class: "cursor", y: 0, width: Math.max(1, bins / 400), height });
  const hint = make("p", { class: "hint" });
  let at = 0; // place in the order

  const said = (place) => {
    const node = graph.order[place];
    const state = graph.state(node);
    return `${place + 1} of ${graph.count}: ${graph.name(node)} (${graph.type(node)}), ${state.outputs.join(", ") || "no output"}`;
  };
  const lens = draw("svg", { class: "lens", height: 18, preserveAspectRatio: "none", "aria-hidden": "true" });
  const AROUND = 60;
  const magnify = (place) => { // single nodes around the place, where the ribbon has no pixel for each
    const first = Math.max(0, Math.min(graph.count - 2 * AROUND, place - AROUND));
    const last = Math.min(graph.count, first + 2 * AROUND);
    lens.setAttribute("viewBox", `0 0 ${last - first} 18`);
    lens.replaceChildren(...Array.from({ length: last - first }, (_, each) => {
      const node = graph.order[first + each];
      const box = draw("rect", { x: each, y: first + each === place ? 0 : 3, width: 0.9, height: first + each === place ? 18 : 12, class: graph.state(node).dtype });
      box.addEventListener("click", () => choose(first + each, true));
      box.append(draw("title", {}, said(first + each)));
      return box;
    }));
  };
  const point = (place) => {
    at = place;
    if (graph.count > bins) magnify(place);
    cursor.setAttribute("x", Math.min(bins - cursor.width.baseVal.value, (place * bins) / graph.count));
    strip.setAttribute("aria-valuenow", place + 1);
    strip.setAttribute("aria-valuetext", said(place));
    hint.textContent = said(place);
  };
  const placeOf = (event) => {
    const box = svg.getBoundingClientRect();
    return Math.max(0, Math.min(graph.count - 1, Math.floor(((event.clientX - box.left) / box.width) * graph.count)));
  };
  const choose = (place, replace) => {
    const hash = `#n${graph.order[place]}`;
    if (replace) history.replaceState(null, "", hash); else location.hash = hash;
    if (replace) show(false);
  };
  const show = (focus) => {
    const node = chosen();
    if (node < 0) { near.hide(); return; }
    near.show(node);
    if (svg) point(graph.place[node]);
    if (focus) near.focus();
  };

  if (svg && graph.count) {
    for (const [key, value] of Object.entries({ role: "slider", tabindex: 0, "aria-label": "Node in topological order", "aria-valuemin": 1, "aria-valuemax": graph.count })) strip.setAttribute(key, value);
    svg.append(cursor);
    strip.after(...(graph.count > bins ? [lens, hint] : [hint]));
    point(0);
    const large = Math.max(1, Math.round(graph.count / 100));
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -large, PageUp: large, Home: -graph.count, End: graph.count };
    strip.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { choose(at, false); event.preventDefault(); }
      if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      choose(Math.max(0, Math.min(graph.count - 1, at + steps[event.key])), true);
    });
    strip.addEventListener("pointermove", (event) => { hint.textContent = said(placeOf(event)); });
    strip.addEventListener("pointerleave", () => { hint.textContent = said(at); });
    strip.addEventListener("click", (event) => choose(placeOf(event), true));
  }
  for (const cell of document.querySelectorAll("#types tbody th")) {
    const button = make("button", { type: "button" }, ...cell.childNodes);
    button.addEventListener("click", () => nodeTable.ask(button.textContent));
    cell.append(button);
  }
  addEventListener("neighbours", ({ detail: node }) => {
    const all = [...graph.inputs(node).map((edge) => edge.producer), ...graph.consumers(node).map((edge) => edge.consumer)];
    nodeTable.ask("", new Set(all.filter((each) => each >= 0)));
  });
  addEventListener("hashchange", () => show(true));
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth !== width) { width = document.body.clientWidth; near.redraw(); }
  }).observe(document.body);
  if (graph.raw.chosen !== null && chosen() < 0) history.replaceState(null, "", `#n${graph.raw.chosen}`);
  show(false);
})();

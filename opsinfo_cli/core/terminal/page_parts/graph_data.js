"use strict";
/* The graph: columns of the page's JSON, with producers and consumers of every node. */
const graph = (() => {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const count = raw.type.length;
  const states = raw.states.map(([inputs, outputs, firstInputs, firstOutputs, list, runs, confidence, dtype]) => (
    { inputs, outputs, firstInputs, firstOutputs, list, runs, confidence, dtype }));
  const begins = new Int32Array(count + 1);
  for (let node = 0; node < count; node += 1) begins[node + 1] = begins[node] + states[raw.state[node]].inputs.length;
  const order = raw.order || Array.from({ length: count }, (_, node) => node);
  const place = new Int32Array(count);
  order.forEach((node, at) => { place[node] = at; });

  const once = (make) => { let made; return () => (made === undefined ? (made = make()) : made); };
  const keyed = (casts) => once(() => { // by input; made when the first node is drawn
    const kinds = casts.kinds.map(([from, to, folded]) => ({ from, to, folded }));
    const found = new Map();
    casts.node.forEach((node, at) => {
      const key = begins[node] + casts.input[at];
      const before = found.get(key);
      if (before) before.push(kinds[casts.kind[at]]); else found.set(key, [kinds[casts.kind[at]]]);
    });
    return found;
  });
  const casts = keyed(raw.casts);
  const withCast = new Set(raw.castNodes);
  raw.casts.node.forEach((node, at) => { if (!raw.casts.kinds[raw.casts.kind[at]][2]) withCast.add(node); });
  const comparison = raw.comparison && {
    label: raw.comparison.label,
    changed: new Map(raw.comparison.changed.index.map((node, at) => [node, at])),
    gone: keyed(raw.comparison.castsGone),
    added: keyed(raw.comparison.castsAdded),
  };
  const back = raw.back && {
    differs: new Map(Object.entries(raw.back.differs).map(([node, said]) => [Number(node), said])),
    unmatched: new Map(Object.entries(raw.back.unmatched).map(([node, why]) => [Number(node), why])),
  };
  const removed = new Set(raw.removed);

  const name = (node) => raw.folders[raw.folder[node]] + raw.bases[raw.base[node]];
  const type = (node) => raw.types[raw.type[node]];
  const state = (node) => states[raw.state[node]];
  const producer = (slot, node) => (raw.source[slot] ? node - raw.source[slot] : -1);
  const words = (reason, node, follows) => {
    const [before, after] = raw.reasons[reason];
    return follows ? `${before}\`${name(node - follows)}\`${after}` : before + after;
  };
  const why = (node) => words(raw.reason[node], node, raw.follows[node]);
  const follows = (node) => (raw.follows[node] ? node - raw.follows[node] : -1);

  const edge = (slot, node) => ({
    slot, consumer: node, input: slot - begins[node], producer: producer(slot, node), output: raw.output[slot] || 0,
    casts: casts().get(slot) || [],
    gone: comparison ? comparison.gone().get(slot) || [] : [],
    added: comparison ? comparison.added().get(slot) || [] : [],
  });
  const inputs = (node) => (
    Array.from({ length: begins[node + 1] - begins[node] }, (_, at) => edge(begins[node] + at, node)));

  let readers = null; // slots by producer: [where each begins, slots], made when the first node is drawn
  const consumers = (node) => {
    if (!readers) {
      const starts = new Int32Array(count + 1);
      const owner = new Int32Array(begins[count]);
      for (let each = 0; each < count; each += 1) {
        for (let slot = begins[each]; slot < begins[each + 1]; slot += 1) {
          owner[slot] = each;
          const fed = producer(slot, each);
          if (fed >= 0) starts[fed + 1] += 1;
        }
      }
      for (let each = 0; each < count; each += 1) starts[each + 1] += starts[each];
      const slots = new Int32Array(starts[count]);
      const next = starts.slice();
      owner.forEach((each, slot) => {
        const fed = producer(slot, each);
        if (fed >= 0) { slots[next[fed]] = slot; next[fed] += 1; }
      });
      readers = { starts, slots, owner };
    }
    return Array.from(readers.slots.subarray(readers.starts[node], readers.starts[node + 1]), (slot) => (
      edge(slot, readers.owner[slot])));
  };

  const other = (node) => { // what B has instead
    const at = comparison ? comparison.changed.get(node) : undefined;
    if (at === undefined) return null;
    const changed = raw.comparison.changed;
    return { state: states[changed.state[at]], why: words(changed.reason[at], node, changed.follows[at]) };
  };
  const subgraph = (node) => raw.subgraphs.reduce((found, [title, start]) => (start <= node ? title : found), "");
  const path = (node) => { // back to where its dtype comes from
    const steps = [];
    for (let at = node; at >= 0 && !steps.includes(at) && steps.length < 1000; at = follows(at)) steps.push(at);
    return steps;
  };
  return {
    raw, count, states, order, place, name, type, state, why, inputs, consumers, other, subgraph, path, withCast,
    comparison, back, removed, others: "neither",
  };
})();

/* Elements: text is only ever set as text. */
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const SVG = document.querySelector("svg").namespaceURI; // every page has bars
const draw = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const COLOURED = ["float16", "bfloat16", "hifloat8", "float32", "float64"];
const dtypeClass = (dtype) => (COLOURED.includes(dtype) ? dtype : dtype ? "whole" : "nothing");
const dtypePills = (dtypes) => {
  const distinct = Array.from(new Set(dtypes));
  if (!distinct.length) return ["-"];
  return distinct.map((dtype) => make("span", { class: `list ${dtypeClass(dtype)}` }, dtype || "-"));
};
const breakable = (name) => name.split(/(?<=\/)/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));
const nodeLink = (node) => make("a", { href: `#n${node}` }, ...breakable(graph.name(node)));

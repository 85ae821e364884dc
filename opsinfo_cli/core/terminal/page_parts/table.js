"use strict";
(() => {
  const body = document.querySelector("tbody");
  const rows = Array.from(body.rows, (row) => ({
    row,
    text: row.textContent.toLowerCase(),
    tags: row.dataset.tags.split("|"),
    keys: Array.from(row.cells, (cell) => cell.dataset.key || cell.textContent),
  }));
  const tools = document.querySelector(".tools");
  const search = tools.elements.search;
  const boxes = Array.from(tools.querySelectorAll("input[type=checkbox]"));
  const status = tools.querySelector("[role=status]");
  const none = document.querySelector(".none");
  const heads = Array.from(body.closest("table").querySelectorAll("thead th"));

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const groups = new Map();
    for (const box of boxes.filter((each) => each.checked)) {
      groups.set(box.dataset.group, [...(groups.get(box.dataset.group) || []), box.value]);
    }
    let shown = 0;
    for (const each of rows) {
      const fits = words.every((word) => each.text.includes(word))
        && Array.from(groups.values()).every((tags) => tags.some((tag) => each.tags.includes(tag)));
      each.row.hidden = !fits;
      shown += fits;
    }
    const all = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
    status.textContent = shown === rows.length ? all : `${shown} of ${all}`;
    none.hidden = shown > 0;
  }

  function sort(index) {
    const down = heads[index].getAttribute("aria-sort") === "ascending";
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    rows.sort((a, b) => (down ? -1 : 1) * compare(a.keys[index], b.keys[index]) || compare(a.keys[0], b.keys[0]));
    heads.forEach((head, at) => head.setAttribute("aria-sort", at !== index ? "none" : down ? "descending" : "ascending"));
    body.append(...rows.map((each) => each.row));
  }

  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(index));
    head.append(button);
  });
  tools.addEventListener("input", show);
  tools.addEventListener("submit", (event) => event.preventDefault());
  tools.hidden = false;
  show();
})();

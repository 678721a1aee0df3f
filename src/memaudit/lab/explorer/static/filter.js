"use strict";
// Lists that can be narrowed by typing, and tables that can be sorted by their heads.

(() => {
  const rowsOf = (list) => [...list.querySelectorAll(list.tagName === "TABLE" ? "tbody > tr" : ":scope > li")]
    .filter((row) => !row.hasAttribute("data-keep"));

  for (const box of document.querySelectorAll("[data-filter]")) {
    const list = explorer.get(box.dataset.filter);
    const count = document.querySelector(`[data-count="${box.dataset.filter}"]`);
    if (!list) continue;
    const rows = rowsOf(list);
    const texts = [];  // read when first needed: long lists need not be walked to be shown
    const narrow = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, place) => {
        texts[place] ??= row.textContent.toLowerCase();
        const fits = words.every((word) => texts[place].includes(word));
        row.hidden = !fits;
        if (fits) shown += 1;
      });
      for (const head of list.querySelectorAll("[data-keep]")) head.hidden = words.length > 0;
      count.textContent = words.length ? `${explorer.thousands(shown)} of ${explorer.thousands(rows.length)}` :
        explorer.thousands(rows.length);
    };
    box.addEventListener("input", () => {
      narrow();
      explorer.state.set({[`f-${box.dataset.filter}`]: box.value});
    });
    box.value = explorer.state.get(`f-${box.dataset.filter}`);
    if (box.value) narrow();
  }

  const worth = (row, column) => {
    const cell = row.cells[column];
    const text = cell?.dataset.value ?? cell?.textContent.trim() ?? "";
    const number = Number(text.replace(/,/g, "").replace("−", "-"));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const before = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;  // numbers before what has none
    if (typeof b === "number") return 1;
    return a.localeCompare(b, "en", {numeric: true});
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = explorer.make("button", {type: "button", class: "sort"});
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows].map((row) => [worth(row, column), row]);
        rows.sort((a, b) => (down ? -1 : 1) * before(a[0], b[0]));
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  }

  // A link to a row inside a closed part, or to a row that a filter hides, must still lead there.
  const goTo = () => {
    const id = location.hash.slice(1);
    const target = id && !id.includes("=") ? explorer.get(id) : null;
    if (!target) return;
    target.closest("[hidden]")?.removeAttribute("hidden");
    target.closest("details")?.setAttribute("open", "");
    target.scrollIntoView({block: "center"});
    for (const old of document.querySelectorAll(".target")) old.classList.remove("target");
    target.classList.add("target");
  };
  window.addEventListener("hashchange", goTo);
  goTo();
})();

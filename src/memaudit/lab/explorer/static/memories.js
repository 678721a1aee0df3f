"use strict";
// Memories in lists.

explorer.memories = (data) => {
  const {make} = explorer;
  const {candidates, kinds, kind_looks} = data;
  const MOST = 40;

  const chip = (kind) => make("span", {class: `chip fill${kind_looks[kind][0]}`},
    make("b", {"aria-hidden": "true"}, kind_looks[kind][1]), kinds[kind]);

  const memory = (item, wasted) => {
    if (typeof item !== "number") {
      return make("li", {},
        make("span", {class: "kind"}, "memory"), " ",
        make("span", {class: "cost"}, `cost ${explorer.short(item.cost)}`),
        wasted ? make("span", {class: "tag"}, "adds nothing") : null,
        make("span", {class: "text", dir: "auto"}, item.text || item.id));
    }
    const link = make("a", {class: "where", href: `stream.html#${candidates.anchor[item]}`}, "in the stream");
    return make("li", {}, chip(candidates.kind[item]), " ",
      make("span", {class: "cost"}, `cost ${explorer.short(candidates.cost[item])}`), " ",
      wasted ? make("span", {class: "tag"}, "adds nothing") : null, link,
      make("span", {class: "text", dir: "auto"}, candidates.text[item] || candidates.id[item]));
  };

  const list = (title, items, otherwise, wasted = new Set(), note = "", tone = "") => {
    const head = make("h4", {}, tone ? make("span", {class: `compared compared-${tone}`}) : null, title, " ",
      make("span", {class: "count"}, explorer.thousands(items.length)));
    const rows = items.slice(0, MOST).map((item) => memory(item, wasted.has(item)));
    if (items.length > MOST) {
      const rest = make("li", {}, make("button", {type: "button", class: "quiet"},
        `show ${items.length - MOST} more`));
      rest.firstChild.addEventListener("click", () => {
        rest.replaceWith(...items.slice(MOST).map((item) => memory(item, wasted.has(item))));
      });
      rows.push(rest);
    }
    return make("div", {}, head, note ? make("p", {class: "muted small"}, note) : null,
      items.length ? make("ul", {class: "memories"}, ...rows) : make("p", {class: "muted"}, otherwise));
  };

  return {list, memory, chip};
};

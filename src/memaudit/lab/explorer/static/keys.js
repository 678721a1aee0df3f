"use strict";
// Moving about by keyboard: j and k through rows, g and a letter to pages, / to search, ? for help.

(() => {
  const ROWS = ".rows > tbody > tr, li.row, section.row, details.row, .found > li";
  const help = explorer.get("help");
  let going = 0;

  const rows = () => [...document.querySelectorAll(ROWS)].filter((row) => row.offsetParent !== null);
  const current = () => document.querySelector(".current");

  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(current());
    const next = all[Math.min(Math.max(at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step, 0), all.length - 1)];
    current()?.classList.remove("current");
    next.classList.add("current");
    const target = next.querySelector("a[href], summary, button") ?? next;
    if (target === next) next.setAttribute("tabindex", "-1");
    target.focus({preventScroll: true});
    next.scrollIntoView({block: "nearest"});
  };

  const go = (letter) => {
    if (letter === "i") location.href = `${explorer.root}index.html`;
    else document.querySelector(`[data-go="${CSS.escape(letter)}"]`)?.click();
  };

  const up = () => {
    const links = document.querySelectorAll(".trail a");
    location.href = links.length ? links[links.length - 1].href : `${explorer.root}index.html`;
  };

  const ACTS = {
    j: () => move(1),
    k: () => move(-1),
    "/": () => document.querySelector(".find input").focus(),
    f: () => document.querySelector("[data-filter]")?.focus(),
    u: up,
    g: () => { going = Date.now(); },
    "?": () => help.showModal(),
    "[": () => document.querySelector("a[rel=prev]")?.click(),
    "]": () => document.querySelector("a[rel=next]")?.click(),
  };

  const typing = (target) => target.closest("input, textarea, select, [contenteditable], [role=application]");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && typing(event.target)) {
      event.target.blur();
      return;
    }
    if (typing(event.target) || help.open) return;
    if (going && Date.now() - going < 1500 && /^[a-z]$/.test(event.key)) {
      going = 0;
      go(event.key);
      event.preventDefault();
      return;
    }
    going = 0;
    const act = ACTS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.querySelector("[data-act=help]").addEventListener("click", () => help.showModal());

  // A static copy has no server for the form: the words are put after the #.
  document.querySelector(".find").addEventListener("submit", (event) => {
    if (!explorer.bundled) return;
    event.preventDefault();
    const words = event.target.elements.q.value;
    location.href = `${explorer.root}search.html#q=${encodeURIComponent(words)}`;
  });
})();

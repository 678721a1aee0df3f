"use strict";
// What the other scripts share. Texts are put in as text only; no markup is ever made from strings.

const explorer = {};

explorer.get = (id) => document.getElementById(id);

explorer.make = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

explorer.draw = (name, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

explorer.data = () => {
  const element = explorer.get("data");
  return element ? JSON.parse(element.textContent) : null;
};

explorer.root = document.body.dataset.root;
explorer.bundled = document.body.dataset.bundled === "yes";

// Numbers as the tables show them: few digits, a real minus sign, a dash for what is not there.
explorer.signed = (text) => text.replace("-", "−");
explorer.ratio = (number) => number === null ? "–" : explorer.signed(number.toFixed(3));
explorer.thousands = (count) => count.toLocaleString("en");
explorer.short = (number) => explorer.signed(Number.isInteger(number) ? explorer.thousands(number) : String(Number(number.toPrecision(4))));

// The state of a page lives after the # of its address, so that every view can be linked to.
explorer.state = {
  all() {
    const text = location.hash.slice(1);
    return new URLSearchParams(text.includes("=") ? text : "");
  },
  get: (name) => explorer.state.all().get(name) ?? "",
  set(changes) {
    const now = explorer.state.all();
    for (const [name, value] of Object.entries(changes)) {
      if (value === "" || value === null || value === undefined) now.delete(name);
      else now.set(name, value);
    }
    const text = now.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  },
};

explorer.ask = async (address) => {
  let answer;
  try {
    answer = await fetch(address);
  } catch {
    throw new Error("The server does not answer. Is memaudit serve still running?");
  }
  if (answer.status === 401) throw new Error("The server was started again: open the address it printed.");
  const content = await answer.json().catch(() => ({error: `the server answered ${answer.status}`}));
  if (!answer.ok) throw new Error(content.error);
  return content;
};

// Colours of the style sheet for canvases; read again when day turns to night.
explorer.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
explorer.onNight = (work) => window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", work);

// Drawing may change the size again; within the observer's own turn that is an error in some browsers.
explorer.onResize = (element, work) => new ResizeObserver(() => requestAnimationFrame(work)).observe(element);

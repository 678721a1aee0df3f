"use strict";
// The labelling page. Texts are put in as text only; the server decides what comes next.

const LABELS = {1: "full", f: "full", 2: "partial", p: "partial", 3: "none", n: "none",
  4: "cannot_tell", c: "cannot_tell"};
const NAMES = {full: "full", partial: "partial", none: "none", cannot_tell: "cannot tell"};
const MOVES = {ArrowLeft: "previous", ArrowRight: "next", j: "unlabelled", u: "undo",
  g: "guideline", "?": "help", e: "note", "/": "note"};
const DRAFT_PAUSE = 300;

const get = (id) => document.getElementById(id);
const note = get("note");
const guideline = get("guideline");
const help = get("help");
const wide = window.matchMedia("(min-width: 70rem)");

let cell = null;          // what is shown
let savedNote = "";       // the note as the server has it; null is none it has
let isDraft = false;      // it has the note, but not as part of a decision
let draftTimer = 0;
let busy = false;         // a key pressed before the next cell is there was not meant for it
let line = Promise.resolve();  // writes go one after the other

async function ask(path, body) {
  const options = body === undefined ? {} : {method: "POST", keepalive: true,
    headers: {"content-type": "application/json"}, body: JSON.stringify(body)};
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is memaudit label annotate still running?");
  }
  if (answer.status === 401) {
    throw new Error("The server was started again: open the address it printed.");
  }
  const view = await answer.json().catch(() => ({error: `the server answered ${answer.status}`}));
  if (!answer.ok) throw new Error(view.error);
  return view;
}

function inLine(work) {
  const done = line.then(work);
  line = done.catch(() => {});
  return done;
}

function trouble(error, lost) {
  get("trouble").textContent = error ? `${lost} ${error.message}` : "";
  get("trouble").hidden = !error;
}

// Showing

function put(id, pieces, empty) {
  const parts = pieces.map(([text, mark]) => {
    if (!mark) return document.createTextNode(text);
    const part = document.createElement(mark === "escape" ? "code" : "mark");
    part.className = mark;
    part.textContent = text;
    return part;
  });
  get(id).replaceChildren(...parts);
  get(id).classList.toggle("empty", parts.length === 0);
  if (parts.length === 0) get(id).textContent = empty;
}

function showProgress({done, total}) {
  get("bar").max = total;
  get("bar").value = done;
  get("done").textContent = `${done} of ${total} labelled`;
}

function show(view) {
  showProgress(view.progress);
  if (view.cell === null) return;
  const other = cell === null || cell.position !== view.cell.position;
  cell = view.cell;
  put("unit", cell.unit, "(no text)");
  put("memory", cell.memory, "(no text)");
  put("quote", cell.quote, "(none given)");
  showParts();
  get("where").textContent = `Cell ${cell.position} of ${view.progress.total}`;
  note.value = savedNote = cell.note;
  isDraft = cell.is_draft;
  fitNote();
  showLabel();
  history.replaceState(null, "", `#${cell.position}`);
  if (other) window.scrollTo(0, 0);
}

// A unit with parts: a checkbox for each, the core first. Nothing is kept without the core.

function showParts() {
  const parts = get("parts");
  parts.hidden = cell.parts.length === 0;
  parts.replaceChildren(...cell.parts.map(({name, words, kept}, place) => {
    const line = document.createElement("label");
    const key = document.createElement("kbd");
    const box = document.createElement("input");
    const text = document.createElement("span");
    const bold = document.createElement("b");
    key.textContent = String(place + 1);
    key.hidden = place > 8;
    box.type = "checkbox";
    box.checked = kept;
    if (place < 9) box.setAttribute("aria-keyshortcuts", String(place + 1));
    bold.textContent = place === 0 ? `${name} (core)` : name;
    text.append(bold, `: ${words}`);
    text.dir = "auto";
    line.append(key, box, text);
    return line;
  }));
  heedCore();
  const [button] = document.querySelectorAll("[data-label=partial]");
  const named = cell.parts.length ? ["p", "Save parts", "as checked"] : ["2", "Partial", "one part lost"];
  for (const [at, tag] of ["kbd", "b", "small"].entries()) {
    button.querySelector(tag).textContent = named[at];
  }
  button.setAttribute("aria-label", `${named[1]}: ${named[2]}`);
  button.setAttribute("aria-keyshortcuts", cell.parts.length ? "p Enter" : "2 p");
  for (const [label, key, letter] of [["full", "1", "f"], ["none", "3", "n"], ["cannot_tell", "4", "c"]]) {
    const other = document.querySelector(`[data-label=${label}]`);
    other.querySelector("kbd").textContent = cell.parts.length ? letter : key;
    other.setAttribute("aria-keyshortcuts", cell.parts.length ? letter : `${key} ${letter}`);
  }
}

function boxes() { return [...get("parts").querySelectorAll("input")]; }

function heedCore() {
  const [core, ...others] = boxes();
  for (const box of others) {
    box.disabled = !core.checked;
    box.checked = box.checked && core.checked;
  }
}

function checkPart(place) {
  const box = boxes()[place];
  if (box && !box.disabled) {
    box.checked = !box.checked;
    heedCore();
  }
}

// What to send for a label: of a unit with parts, the kept ones and the label they make.
function labelled(label) {
  if (!cell.parts.length || label === "cannot_tell") return {label};
  const names = cell.parts.map(({name}) => name);
  const kept = label === "full" ? names : label === "none" ? [] :
    names.filter((_, place) => boxes()[place].checked);
  const made = kept.length === names.length ? "full" : kept.length ? "partial" : "none";
  return {label: made, kept};
}

function showLabel() {
  for (const button of document.querySelectorAll("[data-label]")) {
    button.setAttribute("aria-pressed", String(button.dataset.label === cell.label));
  }
}

function say(text) { get("state").textContent = text; }

function fitNote() {
  note.rows = Math.min(8, Math.max(2, note.value.split("\n").length));
}

// Doing

async function act(work, lost, before = () => keepNote(true)) {
  if (busy || cell === null) return;
  busy = true;
  try {
    await before();
    await inLine(work);
    trouble(null);
  } catch (error) {
    trouble(error, lost);
  } finally {
    busy = false;
  }
}

function decide(label) {
  return act(async () => {
    const {position} = cell;
    const decision = labelled(label);
    label = decision.label;
    savedNote = null;  // should this fail, the note is kept by itself
    const view = await ask("/decisions", {position, note: note.value, ...decision});
    savedNote = note.value;
    isDraft = false;
    cell.label = label;
    show(view);
    showLabel();
    note.blur();
    const over = view.cell === null ? " All cells are labelled." : "";
    say(`Cell ${position}: ${NAMES[label]}.${over}`);
  }, "Not saved.", () => clearTimeout(draftTimer));
}

function undo() {
  return act(async () => {
    const view = await ask("/undo", {});
    show(view);
    say(view.cell === null ? "Nothing to undo." :
      `Undone: cell ${cell.position} is ${cell.label ? NAMES[cell.label] : "without a label"}.`);
  }, "Not undone.");
}

function go(path) {
  return act(async () => {
    const view = await ask(path);
    show(view);
    say(view.cell === null ? "All cells are labelled." :
      cell.label ? `Your label: ${NAMES[cell.label]}.` : "");
  }, "Not shown.");
}

function keepNote(finished) {
  clearTimeout(draftTimer);
  const uncommitted = finished && isDraft && cell.label;
  if (cell === null || (note.value === savedNote && !uncommitted)) return Promise.resolve();
  const {position} = cell;
  const text = savedNote = note.value;
  isDraft = !finished || !cell.label;
  return inLine(async () => {
    try {
      const view = await ask("/notes", {position, note: text, finished});
      showProgress(view.progress);
      trouble(null);
      say(isDraft ? "Note kept for when you label." : "Note saved.");
    } catch (error) {
      savedNote = null;
      trouble(error, "The note is not saved.");
      throw error;
    }
  });
}

function toggleGuideline() {
  guideline.hidden = !guideline.hidden;
  if (!guideline.hidden && !wide.matches) guideline.focus();
  document.body.classList.toggle("guided", !guideline.hidden);
  for (const button of document.querySelectorAll("[aria-controls=guideline]")) {
    button.setAttribute("aria-expanded", String(!guideline.hidden));
  }
}

const ACTIONS = {
  previous: () => go(`/cells/${Math.max(1, cell.position - 1)}`),
  next: () => go(`/cells/${cell.position + 1}`),
  unlabelled: () => go(`/unlabelled-after/${cell.position}`),
  undo,
  guideline: toggleGuideline,
  help: () => (help.open ? help.close() : help.showModal()),
  note: () => { note.focus(); note.setSelectionRange(note.value.length, note.value.length); },
};

// Listening

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target === note) {
    if (event.key === "Escape") note.blur();
    return;
  }
  if (help.open && event.key !== "?") return;
  const covered = !guideline.hidden && !wide.matches;  // nobody labels what they cannot see
  if (covered && event.key === "Escape") toggleGuideline();
  if (covered && event.key !== "g") return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (cell !== null && cell.parts.length && /^[1-9]$/.test(key)) {
    event.preventDefault();
    if (!event.repeat && !busy) checkPart(Number(key) - 1);
    return;
  }
  if (cell !== null && cell.parts.length && key === "Enter" && !event.target.closest("button, a")) {
    event.preventDefault();
    if (!event.repeat) decide("partial");
    return;
  }
  if (!(key in LABELS) && !(key in MOVES)) return;
  event.preventDefault();
  if (event.repeat && !key.startsWith("Arrow")) return;  // a key held down labels one cell
  if (cell === null) return;
  if (key in LABELS) decide(LABELS[key]);
  else ACTIONS[MOVES[key]]();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (cell === null || button === null) return;
  if (button.dataset.label) decide(button.dataset.label);
  else if (button.dataset.move) ACTIONS[button.dataset.move]();
});

get("parts").addEventListener("change", heedCore);
note.addEventListener("input", () => {
  fitNote();
  clearTimeout(draftTimer);
  draftTimer = setTimeout(() => keepNote(false).catch(() => {}), DRAFT_PAUSE);
});
note.addEventListener("blur", () => keepNote(true).catch(() => {}));
window.addEventListener("pagehide", () => keepNote(true).catch(() => {}));

const asked = /^#(\d{1,9})$/.exec(location.hash);
ask(asked ? `/cells/${asked[1]}` : "/resume").then((view) => {
  show(view);
  if (wide.matches) toggleGuideline();
}).catch((error) => trouble(error, ""));

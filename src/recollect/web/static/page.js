// What the pages do beyond links and forms: dialogs, copying, keys, live growth. Everything works without it, by plain links.
const dialog = document.getElementById("dialog");
const body = document.getElementById("dialog-body");
const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

export function notice(text) {
  const box = document.createElement("div");
  box.textContent = text;
  document.getElementById("notices").append(box);
  setTimeout(() => box.remove(), 5000);
}

const reading = $("[data-session-page]");

// --- dialogs: whatever is swapped into the dialog's body opens it -------------------------------------------------------
new MutationObserver(() => {
  if (body.childElementCount && !dialog.open) dialog.showModal();
  $("[autofocus]", body)?.focus();
}).observe(body, { childList: true });
dialog.addEventListener("close", () => {
  const changed = $("[role=status]", body) !== null;
  body.replaceChildren();
  if (changed) location.reload();
});
document.addEventListener("click", (event) => {
  const target = event.target.closest("a, button, dialog");
  if (!target) return;
  if (target.matches("[data-close]") && dialog.open) { event.preventDefault(); dialog.close(); }
  if (target === dialog && event.target === dialog) dialog.close();
  if (target.id === "theme") window.switchTheme();
  if (target.id === "keys") document.getElementById("key-help").showModal();
  if (target.dataset.copyFrom) copy(target.dataset.copyFrom);
  if (target.matches("[data-unfold]")) unfold(target);
});

async function copy(address) {
  try {
    const response = await fetch(address);
    if (!response.ok) throw new Error(response.status);
    await navigator.clipboard.writeText(await response.text());
    notice("Copied as markdown");
  } catch {
    notice("It could not be copied");
  }
}

function unfold(button) {
  const open = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(open));
  button.textContent = open ? "Fold all" : "Unfold all";
  for (const item of all("details.call, details.thinking", $(".conversation"))) item.open = open;
}

// --- rows of tabs that are wider than the screen: the one that is open is in sight ------------------------------------------
for (const tab of all(".tabs [aria-current]")) tab.parentElement.scrollLeft = tab.offsetLeft - 48;

// --- forms: Ctrl+Enter sends, and a button may go past htmx (a download) --------------------------------------------------
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("[data-submit-on-ctrl-enter]")) {
    event.preventDefault();
    event.target.form.requestSubmit($("button.primary", event.target.form));
  }
});
document.addEventListener("submit", (event) => {
  if (!event.submitter?.matches("[data-plain-submit]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const field = Object.assign(document.createElement("input"), { type: "hidden", name: event.submitter.name, value: event.submitter.value });
  event.target.append(field);
  event.target.submit();
  field.remove();
}, true);

// --- keys ---------------------------------------------------------------------------------------------------------------
let current = null;
let before = "";
function select(item) {
  current?.classList.remove("current");
  current = item;
  if (!item) return;
  item.classList.add("current");
  item.scrollIntoView({ block: "nearest" });
  ($("a.title", item) ?? item).focus({ preventScroll: true });
}
function step(by, selector) {
  const items = all(selector);
  if (!items.length) return;
  let place = items.indexOf(current);
  if (place < 0) {
    const top = items.findIndex((item) => item.getBoundingClientRect().bottom > 80);
    place = by > 0 ? top - 1 : top;
  }
  select(items[Math.max(0, Math.min(items.length - 1, place + by))]);
}
const rows = reading ? ".finds [data-row], article.message" : "[data-row]";
const actions = {
  "/": () => $("[data-find]")?.focus(),
  "?": () => document.getElementById("key-help").showModal(),
  d: () => window.switchTheme(),
  j: () => step(1, rows),
  k: () => step(-1, rows),
  n: () => step(1, "article.message.user"),
  p: () => step(-1, "article.message.user"),
  o: () => {
    if (!current) return;
    const link = $("a.title", current);
    if (link) link.click();
    else for (const item of all("details", current)) item.open = !item.open;
  },
  c: () => $("[data-copy-from]", current ?? document)?.click(),
  gh: () => location.assign("/"),
  gs: () => location.assign("/sessions"),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || $("dialog[open]")) return;
  if (event.target.matches("input, textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = actions[before + event.key] ?? actions[event.key];
  before = event.key === "g" ? "g" : "";
  if (action) { event.preventDefault(); action(); }
});

// --- a link to a message that is not on this page: the server knows where it is ------------------------------------------
function followHash() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (!reading || !wanted.startsWith("m-") || wanted.length < 4) return;
  const found = document.getElementById(wanted);
  let jumped = null;
  try { jumped = sessionStorage.getItem("recollect-jump"); } catch { /* then there is no second try */ }
  if (found) {
    const message = found.closest("article, .seam") ?? found;
    message.scrollIntoView({ block: "start" });
    select(message);
  } else if (jumped !== location.href) {
    try { sessionStorage.setItem("recollect-jump", location.href); } catch { return; }
    location.replace(`/sessions/${encodeURIComponent(reading.dataset.sessionPage)}/m/${encodeURIComponent(wanted.slice(2))}`);
  }
}
addEventListener("hashchange", followHash);
followHash();

// --- the turn that is being read, in the list beside ---------------------------------------------------------------------
const turns = new Map(all("[data-turn]").map((link) => [link.dataset.turn, link]));
if (turns.size) {
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = turns.get(entry.target.dataset.message);
      if (!entry.isIntersecting || !link) continue;
      for (const other of turns.values()) other.removeAttribute("aria-current");
      link.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  const observe = (from) => all("article.message.user", from).forEach((item) => seen.observe(item));
  observe(document);
  document.addEventListener("htmx:after:swap", () => observe($(".conversation")));
}

// --- live: what grows, grows here -----------------------------------------------------------------------------------------
const liveHome = $("[data-live]");
let timer = 0;
function later(action) {
  clearTimeout(timer);
  timer = setTimeout(action, 400);
}
// What the reader opened stays open: the layout's settings for htmx let "open" and the subagents be.
async function refreshLastPage() {
  const ofSession = (selector) => all(selector, reading).filter((item) => !item.closest(".nested"));
  const last = ofSession(".page").at(-1);
  if (!last || ofSession(".next-page").length) return;
  const query = reading.dataset.query;
  const address = `/sessions/${encodeURIComponent(reading.dataset.sessionPage)}?${query ? query + "&" : ""}page=${last.dataset.page}`;
  const atEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 200;
  await window.htmx.ajax("GET", address, { target: last, swap: "outerMorph" });
  current?.classList.add("current");
  if (atEnd) scrollTo({ top: document.documentElement.scrollHeight });
}
function refreshList() {
  if (dialog.open || liveHome?.contains(document.activeElement) && document.activeElement.matches("input")) return;
  window.htmx.ajax("GET", location.pathname + location.search, { target: liveHome, swap: "outerMorph" });
}
// Only the tab that is looked at listens: a browser allows a server six connections, and each stream holds one.
if ((reading || liveHome) && window.htmx) {
  const address = reading ? `/api/v1/sessions/${encodeURIComponent(reading.dataset.sessionPage)}/events?seen=${reading.dataset.size}` : "/api/v1/events";
  const kinds = ["message", "entry", "title_changed", "session_started", "session_ended", "subagent_started", "compaction", "lost"];
  const refresh = reading ? refreshLastPage : refreshList;
  let stream = null;
  const listen = () => {
    if (stream) return;
    stream = new EventSource(address);
    for (const kind of kinds) stream.addEventListener(kind, () => later(refresh));
  };
  const stop = () => {
    stream?.close();
    stream = null;
  };
  if (!document.hidden) listen();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return stop();
    if (!stream) later(refresh);  // whatever came meanwhile
    listen();
  });
  addEventListener("pagehide", stop);
}

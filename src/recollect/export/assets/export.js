"use strict";
// What an exported page does beyond links and folds: theme, copying, links into folds, search. All of it can be read without.
(() => {
  const root = document.documentElement;
  const $ = (selector, from = document) => from.querySelector(selector);
  const stored = (value) => {
    try { return value ? localStorage.setItem("recollect-theme", value) : localStorage.getItem("recollect-theme"); } catch { return null; }
  };
  root.classList.add("js");
  const theme = stored();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  function switchTheme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    stored(root.dataset.theme);
  }

  function reveal(node) {
    for (let fold = node.parentElement?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }

  function copy(button) {
    const text = [...$(".body", button.closest("article")).children].map((part) => part.innerText.trim()).filter(Boolean).join("\n\n") + "\n";
    const done = (words) => { button.textContent = words; setTimeout(() => { button.textContent = "copy"; }, 1500); };
    const byHand = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const worked = document.execCommand("copy");
      area.remove();
      done(worked ? "copied" : "not copied");
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => done("copied"), byHand);
    else byHand();
  }

  function unfold(button) {
    const open = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Fold all" : "Unfold all";
    for (const fold of document.querySelectorAll("main details")) fold.open = open;
  }

  // --- search in this page: the text of all its nodes as one string, read when it is first needed --------------------------
  const form = $("form.find");
  const field = form && $("input", form);
  const count = form && $(".count", form);
  const main = $("main");
  let page = null;
  let hits = [];
  let here = -1;
  const low = (text) => { const made = text.toLowerCase(); return made.length === text.length ? made : text; };

  function read() {
    const nodes = [];
    const starts = [];
    const texts = [];
    let length = 0;
    const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (node.parentElement.closest(".message-tools")) continue;
      nodes.push(node);
      starts.push(length);
      texts.push(low(node.data));
      length += node.data.length;
    }
    return { nodes, starts, text: texts.join("") };
  }

  function at(place) {
    let left = 0;
    let right = page.starts.length;
    while (right - left > 1) {
      const middle = (left + right) >> 1;
      if (page.starts[middle] <= place) left = middle; else right = middle;
    }
    return [page.nodes[left], place - page.starts[left]];
  }

  function rangeOf(start, length) {
    const range = document.createRange();
    range.setStart(...at(start));
    const [node, offset] = at(start + length - 1);
    range.setEnd(node, offset + 1);
    return range;
  }

  function paint(name, ranges) {
    if (window.Highlight && CSS.highlights) CSS.highlights.set(name, new Highlight(...ranges));
  }

  function find(words) {
    hits = [];
    here = -1;
    page ??= read();
    const wanted = low(words.trim());
    for (let place = wanted ? page.text.indexOf(wanted) : -1; place >= 0 && hits.length < 20000; place = page.text.indexOf(wanted, place + wanted.length)) {
      hits.push(rangeOf(place, wanted.length));
    }
    paint("found", hits);
    paint("here", []);
    count.textContent = wanted ? (hits.length ? `${hits.length} found` : "nothing found") : "";
  }

  function go(by) {
    if (!hits.length) return;
    here = here < 0 && by < 0 ? hits.length - 1 : (here + by + hits.length) % hits.length;
    const range = hits[here];
    reveal(range.startContainer);
    paint("here", [range]);
    range.startContainer.parentElement.scrollIntoView({ block: "center" });
    count.textContent = `${here + 1} of ${hits.length}`;
  }

  // --- search over many pages: their text is in script files beside them, which call recollect() ------------------------------
  const list = $("#hits");
  const files = list ? list.dataset.files.split(" ").filter(Boolean) : [];
  const folder = (address) => address.slice(0, address.lastIndexOf("/") + 1);
  const parts = [];
  let loading = null;
  window.recollect = (part) => { parts.push({ ...part, base: folder(document.currentScript.src) }); };

  function load() {
    loading ??= (async () => {
      for (const name of files) {
        await new Promise((next) => {
          const script = document.createElement("script");
          script.src = name;
          script.onload = script.onerror = next;
          document.head.append(script);
        });
      }
    })();
    return loading;
  }

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  function hitRow(part, [href, uuids, speaker, text], place, length) {
    const row = element("li");
    const link = element("a", `${part.title ? part.title + " · " : ""}${speaker}`);
    const from = part.base + href;
    link.href = from + (uuids ? "#m-" + uuids.split(" ")[0] : "");
    const start = Math.max(place - 80, 0);
    const words = element("div", "", "quiet");
    words.append((start ? "…" : "") + text.slice(start, place), element("mark", text.slice(place, place + length)), text.slice(place + length, place + 160));
    row.append(link, words);
    return row;
  }

  let asked = 0;
  async function findAll(words) {
    const turn = ++asked;
    const wanted = low(words.trim());
    if (!wanted) { list.replaceChildren(); count.textContent = ""; return; }
    count.textContent = "reading …";
    await load();
    if (turn !== asked) return;
    const rows = [];
    let messages = 0;
    for (const part of parts) {
      for (const entry of part.entries) {
        const place = low(entry[3]).indexOf(wanted);
        if (place < 0) continue;
        messages += 1;
        if (rows.length < 200) rows.push(hitRow(part, entry, place, wanted.length));
      }
    }
    list.replaceChildren(...rows);
    if (messages > rows.length) list.append(element("li", `… and ${messages - rows.length} more messages`, "quiet"));
    count.textContent = messages ? `in ${messages} message${messages === 1 ? "" : "s"}` : "nothing found";
  }

  if (form) {
    const search = list ? findAll : find;
    let timer = 0;
    field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => search(field.value), 200); });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(timer);
      if (list) return search(field.value);
      if (here < 0) search(field.value);
      go(event.submitter?.dataset.step === "-1" ? -1 : 1);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey && !list) { event.preventDefault(); go(-1); }
      if (event.key === "Escape") { field.value = ""; search(""); field.blur(); }
    });
    $("[data-everywhere]")?.addEventListener("click", (event) => { if (field.value) event.currentTarget.hash = "q=" + encodeURIComponent(field.value); });
  }

  // --- links to messages: open the folds around them; on the first of many pages, go to the page that has them -------------------
  async function follow() {
    let wanted = "";
    try { wanted = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    if (list && wanted.startsWith("q=")) { field.value = wanted.slice(2); findAll(field.value); return; }
    if (!wanted.startsWith("m-")) return;
    const found = document.getElementById(wanted);
    if (found) {
      reveal(found);
      (found.closest("article, .seam") ?? found).scrollIntoView({ block: "start" });
    } else if (list) {
      await load();
      for (const part of parts) {
        const entry = part.entries.find((item) => item[1].split(" ").includes(wanted.slice(2)));
        if (entry) { location.replace(part.base + entry[0] + "#" + wanted); return; }
      }
    }
  }
  addEventListener("hashchange", follow);

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches("[data-theme-switch]")) switchTheme();
    if (button.matches("[data-copy]")) copy(button);
    if (button.matches("[data-unfold]")) unfold(button);
  });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    if (event.key === "/" && field) { event.preventDefault(); field.focus(); }
    if (event.key !== "n" && event.key !== "p") return;
    const prompts = [...document.querySelectorAll("main > article.user")];
    const tops = prompts.map((item) => item.getBoundingClientRect().top);
    const next = event.key === "n" ? tops.findIndex((top) => top > 90) : tops.findLastIndex((top) => top < 40);
    prompts[next]?.scrollIntoView({ block: "start" });
  });
  follow();
})();

"use strict";
// Keys and switches of pages with answers.
(() => {
  let open = localStorage.getItem("toxic") === "open";
  function texts() {
    for (const d of document.querySelectorAll("details.fold")) d.open = open;
    for (const b of document.querySelectorAll(".toxic-switch")) {
      b.setAttribute("aria-pressed", String(open));
      b.textContent = open ? "Close texts of toxic prompts" : "Open texts of toxic prompts";
    }
  }
  // Long texts are cut to some lines until their button is pressed.
  function clamp() {
    for (const text of document.querySelectorAll(".prompt .turn:not([data-clamp]) > .text")) {
      if (!text.checkVisibility()) continue;
      const turn = text.parentElement;
      turn.dataset.clamp = "";
      if (text.scrollHeight < 260) continue;
      turn.classList.add("clamped");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "more";
      button.textContent = "Show all of it";
      button.addEventListener("click", () => {
        turn.classList.remove("clamped");
        button.remove();
      });
      turn.append(button);
    }
  }
  function toggle() {
    open = !open;
    localStorage.setItem("toxic", open ? "open" : "closed");
    texts();
  }
  function go(step) {
    const all = [...document.querySelectorAll(".prompt")];
    const at = all.findIndex((el) => el.contains(document.activeElement));
    const next = all[Math.max(0, Math.min(all.length - 1, at + step))];
    if (!next) return;
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "start" });
  }
  function markdown(section) {
    const quote = (text) => text.trim().split("\n").map((line) => "> " + line).join("\n");
    const parts = [];
    for (const el of section.querySelectorAll(".ask .text")) parts.push(quote(el.textContent));
    for (const a of section.querySelectorAll(".answer")) {
      parts.push("**" + a.querySelector("h2").textContent.trim() + "** – " + [...a.querySelectorAll(".verdicts li")].map((li) => li.textContent.trim()).join("; "));
      const text = a.querySelector(".reply .text");
      if (text) parts.push(quote(text.textContent));
      parts.push(a.querySelector("a.link").href);
    }
    return parts.join("\n\n");
  }
  document.addEventListener("click", (e) => {
    if (e.target.closest(".toxic-switch")) toggle();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, textarea, select, [contenteditable]")) return;
    if (e.key === "j") go(1);
    else if (e.key === "k") go(-1);
    else if (e.key === "x") toggle();
    else if (e.key === "c") {
      const section = document.activeElement.closest?.(".prompt");
      if (section && navigator.clipboard) navigator.clipboard.writeText(markdown(section));
    }
  });
  function shown() {
    texts();
    clamp();
  }
  for (const event of ["htmx:after:swap", "orbench:shown"]) document.addEventListener(event, shown);
  document.addEventListener("toggle", clamp, true);
  shown();
})();
// Chooses rows of all figures by target, dataset and judge.
(() => {
  const figures = document.querySelector("#figures");
  const tables = figures ? [...figures.querySelectorAll("table.grid")] : [];
  const text = (cell) => cell.textContent.trim();
  const all = tables.map((table) => ({
    fold: table.closest("details"),
    heads: [...table.tHead.rows[0].cells].map(text),
    rows: [...table.tBodies[0].rows],
  }));
  const chosen = {};
  // A pair is of the target that it is against too, whose cell has the bare name.
  function against(heads, row, head) {
    const i = head === "target" ? heads.indexOf("against") : -1;
    return i >= 0 && (chosen.target + " (").startsWith(text(row.cells[i]) + " (");
  }
  function show() {
    for (const { fold, heads, rows } of all) {
      for (const row of rows) row.hidden = heads.some((head, i) => chosen[head] && text(row.cells[i]) !== chosen[head] && !against(heads, row, head));
      fold.hidden = rows.every((row) => row.hidden);
    }
  }
  const line = document.createElement("p");
  line.className = "choose";
  for (const head of ["target", "dataset", "judge"]) {
    const values = new Set(all.flatMap(({ heads, rows }) => heads.flatMap((name, i) => name === head ? rows.map((row) => text(row.cells[i])) : [])));
    if (values.size < 2) continue;
    const label = document.createElement("label"), select = document.createElement("select");
    select.append(new Option("all", ""), ...[...values].map((value) => new Option(value, value)));
    select.addEventListener("change", () => { chosen[head] = select.value; show(); });
    label.append(head + " ", select);
    line.append(label, " ");
  }
  if (line.children.length) figures.querySelector("details").before(line);
})();

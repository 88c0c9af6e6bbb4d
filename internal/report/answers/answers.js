// The answers of a folder: lists them, filters and sorts them, and loads the files with
// their texts as they are needed. A page that was opened from a disk may load scripts
// alone, so each file calls one of the functions of orbench with its data.
const orbench = (() => {
  const kept = 400;
  const lists = [];
  let names, samples, kinds, cells;
  // By prompt: its ID, the file of its lines, and its first row. By file: its first row.
  const ids = [], chunks = [], starts = [], firsts = [];
  // By row.
  const prompts = [], sampleOf = [], kindOf = [];
  // By row, the line of its prompt, and where in it the row begins: its sample, its kind, the
  // length of its answer, and scores.
  const lines = [], at = [];
  const byName = new Map();
  const files = new Map(), loading = new Map();

  const $ = (selector) => document.querySelector(selector);
  const redacted = !$("#filter [name=q]");
  const count = (n) => n.toLocaleString("en-US");

  function script(src) {
    return new Promise((done, fail) => {
      const s = document.createElement("script");
      s.src = src;
      s.onload = () => { s.remove(); done(); };
      s.onerror = () => fail(new Error("The file " + src + " beside this page is missing."));
      document.head.append(s);
    });
  }

  // file loads what a file has. The oldest of many are forgotten.
  async function file(name) {
    name = String(name);
    if (!files.has(name)) {
      if (!loading.has(name)) loading.set(name, script("answers/" + name + ".js"));
      await loading.get(name);
      loading.delete(name);
      for (const old of files.keys()) {
        if (files.size <= kept) break;
        if (old !== name) files.delete(old);
      }
    }
    return files.get(name);
  }

  function build() {
    samples = names.samples || [];
    kinds = names.kinds || [];
    names.words = (names.words || []).map((firsts) => (firsts || []).map(atob));
    for (const list of lists) {
      for (const line of list) {
        const prompt = ids.length;
        ids.push(line[0]); chunks.push(line[1]); starts.push(prompts.length);
        firsts[line[1]] ??= prompts.length;
        for (let i = 2; i < line.length; i += 3 + names.scored[line[i + 1]].length) {
          prompts.push(prompt); sampleOf.push(line[i]); kindOf.push(line[i + 1]); lines.push(line); at.push(i);
        }
      }
    }
    starts.push(prompts.length);
    lists.length = 0;
    cells = tally(null);
  }

  // tally counts the rows by sample and kind, of those in some.
  function tally(some) {
    const of = samples.map(() => new Array(kinds.length).fill(0));
    for (let row = 0; row < prompts.length; row++) if (!some || some[row]) of[sampleOf[row]][kindOf[row]]++;
    return of;
  }

  // all lists the prompts with the name of one: those of other runs are the same.
  function same(prompt) {
    if (!byName.size) {
      ids.forEach((id, p) => { byName.has(id) ? byName.get(id).push(p) : byName.set(id, [p]); });
    }
    return byName.get(ids[prompt]).filter((p) => datasetOf(p) === datasetOf(prompt));
  }
  const datasetOf = (prompt) => kinds[kindOf[starts[prompt]]].dataset[0];

  // The words of a query, as package words has them: letters and digits in a row; in scripts
  // without spaces each letter. A word is a text of bytes, and open if it is to be the
  // beginning of one.
  const single = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]";
  const word = new RegExp(single + "|(?:(?!" + single + ")[\\p{L}\\p{Nd}\\p{M}])+", "gu");
  function wordsOf(query) {
    return query.split(/\s+/).flatMap((field) => (field.replace(/^prompt:/, "").match(word) || []).map((w, i, all) => {
      const low = [...w].map((c) => [...c.toLowerCase()][0]).join("");
      return { word: String.fromCharCode(...new TextEncoder().encode(low).slice(0, 64)), open: field.endsWith("*") && i === all.length - 1, ofPrompt: field.startsWith("prompt:") };
    }));
  }

  // find adds to has the texts that a block lists for a word; see words.Lists in Go.
  function find(block, { word, open }, has) {
    let i = 0;
    const varint = () => {
      for (let n = 0, factor = 1; ; factor *= 128) {
        const b = block.charCodeAt(i++);
        n += (b & 127) * factor;
        if (b < 128) return n;
      }
    };
    while (i < block.length) {
      const length = varint(), found = (open ? length >= word.length : length === word.length) && block.startsWith(word, i);
      i += length;
      const bytes = varint(), end = i + bytes;
      for (let text = -1; found && i < end;) has[text += varint()] = 1;
      i = end;
    }
  }

  // search finds the rows whose prompt or answer has all words.
  let searched = { query: "", some: null };
  async function search(query) {
    if (searched.query === query) return searched.some;
    const some = new Uint8Array(prompts.length), words = wordsOf(query);
    let all = null;
    for (const word of words) {
      const has = new Uint8Array(prompts.length + ids.length);
      let before = 0;
      for (const firsts of names.words) {
        for (let n = 0; n < firsts.length; n++) {
          const next = firsts[n + 1];
          if ((next === undefined || next > word.word || word.open && next.startsWith(word.word)) && (firsts[n] <= word.word || word.open && firsts[n].startsWith(word.word))) {
            find(atob(await file("words-" + (before + n))), word, has);
          }
        }
        before += firsts.length;
      }
      if (word.ofPrompt) prompts.forEach((prompt, row) => { has[row + prompt + 1] = 0; });
      all = all ? all.map((one, text) => one & has[text]) : has;
    }
    // A prompt's text has its number, and the answers to it have those after it.
    for (let prompt = 0; all && prompt < ids.length; prompt++) {
      const first = starts[prompt] + prompt;
      for (let row = starts[prompt]; row < starts[prompt + 1]; row++) some[row] = all[first] | all[row + prompt + 1];
    }
    searched = { query, some };
    return some;
  }

  const all = (q, name) => q.getAll(name).filter((v) => v);

  // judgeOf is the judge of the n-th verdict of a filter.
  function judgeOf(q, n) {
    const judges = all(q, "judge");
    return judges[Math.min(n, judges.length - 1)] ?? names.judges?.[0];
  }

  // choose tells what each sample and each kind is missing; see package facet.
  function choose(q) {
    const wanted = {};
    for (const name of new Set(q.keys())) if (all(q, name).length) wanted[name] = all(q, name);
    all(q, "verdict").forEach((word, n) => (wanted["verdict by " + judgeOf(q, n)] ??= []).push(word));
    const missing = (terms) => Object.keys(wanted).filter((name) => Object.hasOwn(terms, name) && !wanted[name].some((v) => terms[name].includes(v)));
    return { withoutSample: samples.map(missing), withoutKind: kinds.map(missing) };
  }

  // facetsOf counts the rows by parameter and value. The counts of a parameter ignore the
  // filter's own values of it.
  function facetsOf(c, cells) {
    const counts = Object.create(null);
    let total = 0;
    samples.forEach((sample, i) => cells[i].forEach((n, k) => {
      const missing = [...c.withoutSample[i], ...c.withoutKind[k]];
      if (!n || missing.length > 1) return;
      if (!missing.length) total += n;
      for (const [name, values] of [...Object.entries(sample), ...Object.entries(kinds[k])]) {
        if (!missing.length || missing[0] === name) for (const v of values) (counts[name] ??= Object.create(null))[v] = (counts[name][v] || 0) + n;
      }
    }));
    return { counts, total };
  }

  function showFacets(q, counts) {
    counts.verdict = counts["verdict by " + judgeOf(q, 0)];
    for (const input of document.querySelectorAll("#facets input")) {
      const { name, value } = input, n = counts[name]?.[value] || 0, line = input.parentElement;
      input.checked = all(q, name).includes(value);
      if (name === "judge") continue;
      line.hidden = !n && !input.checked;
      line.querySelector("small").textContent = count(n);
    }
    for (const f of document.querySelectorAll("#facets fieldset")) f.hidden = !f.querySelector("input:checked") && f.querySelectorAll("label:not([hidden])").length < 2;
  }

  // address is that of a query with some parameters set.
  function address(q, set) {
    const next = new URLSearchParams(q);
    next.delete("after");
    for (const [name, value] of set || []) {
      next.delete(name);
      if (value) next.set(name, value);
    }
    return "#" + next;
  }

  function showLinks(q, total) {
    const line = $("#total"), b = document.createElement("b");
    b.textContent = count(total);
    line.replaceChildren(b, total === 1 ? " answer" : " answers");
    for (const [name, value] of q) {
      if (!value || ["by", "sort", "after", "q"].includes(name)) continue;
      const chip = document.createElement("a"), text = document.createElement("bdi");
      chip.className = "chip";
      chip.href = address([...q].filter(([n, v]) => n !== name || v !== value));
      chip.title = "Remove this condition";
      text.textContent = name + ": " + value;
      chip.append(text, " ×");
      line.append(" ", chip);
    }
    for (const a of document.querySelectorAll("a[data-set]")) {
      const set = [...new URLSearchParams(a.dataset.set)];
      a.href = address(q, set);
      if (set.every(([name, value]) => (q.get(name) || "") === value)) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    }
    const search = $("#filter [name=q]");
    if (search) search.value = q.get("q") || "";
  }

  // matched lists the rows that are chosen, in order.
  function matched(q, c, some) {
    const found = [];
    for (let row = 0; row < prompts.length; row++) {
      if (!c.withoutKind[kindOf[row]].length && !c.withoutSample[sampleOf[row]].length && (!some || some[row])) found.push(row);
    }
    const judge = (names.judges || []).indexOf(judgeOf(q, 0)), sort = q.get("sort") || "", sign = sort.startsWith("-") ? -1 : 1;
    const value = (row) => {
      if (sort.endsWith("length")) return sign * lines[row][at[row] + 2];
      const nth = names.scored[kindOf[row]].indexOf(judge), score = nth < 0 ? null : lines[row][at[row] + 3 + nth];
      return score === null ? Infinity : sign * score;
    };
    if (!sort) return found;
    const values = new Float64Array(prompts.length);
    for (const row of found) values[row] = value(row);
    return found.sort((a, b) => values[a] - values[b] || a - b);
  }

  // showRows shows rows, each with all other answers to its prompt, or alone. Those that a
  // filter chose are marked.
  async function showRows(rows, found, alone) {
    const chosen = new Set(found.length < prompts.length ? found : []), groups = [], seen = new Set();
    for (const row of rows) {
      if (alone) groups.push([row]);
      else if (!seen.has(prompts[row])) {
        const group = [];
        for (const p of same(prompts[row])) {
          seen.add(p);
          for (let r = starts[p]; r < starts[p + 1]; r++) group.push(r);
        }
        groups.push(group);
      }
    }
    const needed = new Set(groups.flat().map((row) => chunks[prompts[row]]));
    const read = new Map(await Promise.all([...needed].map(async (n) => [n, await unpack(await file(n))])));
    const line = (row) => JSON.parse(read.get(chunks[prompts[row]])[row - firsts[chunks[prompts[row]]]]);
    return html`${groups.map((group) => section(line(starts[prompts[group[0]]]), group.map((row) => [line(row), row, chosen.has(row)])))}`.html;
  }

  // unpack gives the lines of a file.
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    return (await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text()).split("\n");
  }

  // html makes HTML of a template. Its values are texts, unless html made them.
  const escape = (v) => Array.isArray(v) ? v.map(escape).join("") : v?.html ?? String(v || "").replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
  const html = (parts, ...values) => ({ html: String.raw({ raw: parts }, ...values.map(escape)) });

  // What follows shows a row, a line of answers.jsonl, as the templates row and cell of the
  // pages of a server do.
  const turnsOf = (row) => row.dialog || row.prompt.messages || [];
  const fold = (row, title, body) => row.prompt.label === "safe" ? body : html`<details class="fold"><summary>${title}</summary>${body}</details>`;
  const asked = (row) => html`${redacted && html`<p class="none">text left out</p>`}${turnsOf(row).map((t) => html`<div class="turn ${t.role}"><span class="who">${t.block ? "withheld answer" : t.own ? "own answer" : t.role}</span><div class="text" dir="auto">${t.content}</div></div>`)}`;

  function section(row, cells) {
    const { label, category } = row.prompt, side = ["safe", "toxic"].includes(label) ? label : "other";
    return html`<section class="prompt" data-label="${label}"><div class="ask"><p class="tags"><span class="tag ${side}">${label}</span> <span class="tag"><bdi>${category || "(none)"}</bdi></span> <small><bdi>${row.dataset}</bdi> <code>${row.prompt.id}</code></small></p>
${fold(row, label + " prompt", asked(row))}</div><div class="replies">${cells.map((c) => cell(row, ...c))}</div></section>`;
  }

  function cell(first, row, number, chosen) {
    const target = row.variant || row.target, said = JSON.stringify(turnsOf(row).map((t) => [t.role, t.content])) !== JSON.stringify(turnsOf(first).map((t) => [t.role, t.content]));
    const link = new URLSearchParams({ dataset: row.dataset, prompt: row.prompt.id, variant: target, ...(row.sample && { sample: row.sample }) });
    return html`<article class="answer${chosen && " matched"}" id="a${number + 1}" data-label="${row.prompt.label}">
<h2><bdi>${target}</bdi>${row.sample && html` <span class="tag">sample ${row.sample}</span>`}${row.simulated && simulated} <small></small></h2>
<ul class="verdicts">${row.verdicts?.map(verdict) || html`<li><b class="unjudged">${row.status}</b></li>`}</ul>
${said && !redacted && html`<details><summary>How it was asked</summary>${asked(row)}</details>`}${fold(row, "answer", reply(row))}
<p class="tools"><a class="link" href="#${link}">Link</a></p></article>`;
  }

  const simulated = html` <span class="tag sim">simulated</span>`;
  const verdict = (v) => html`<li><bdi>${v.judge}</bdi>: <b class="${!v.class ? "unjudged" : names.refused.includes(v.class) ? "refused" : "answered"}">${(v.class || "unjudged").replaceAll("_", " ")}</b>${v.reason && ", reason " + v.reason}${v.class && ", score " + (v.score || 0).toFixed(2)}${v.simulated && simulated}</li>`;

  function reply(row) {
    const { text = "", finish, block, thinking } = row.response || {}, verdicts = row.verdicts || [];
    const ending = block?.kind === "defense" ? "withheld by the defense: " + block.detail : block ? "withheld by the provider: " + block.kind + " " + (block.detail || "") : finish && finish !== "stop" && "ended by: " + finish;
    return html`<div class="turn reply"><span class="who">answer</span>${text.trim() ? html`<div class="text" dir="auto">${passages(text, verdicts)}</div>` : html`<div class="text none">${redacted ? "text left out" : "no text"}</div>`}</div>
${ending && html`<p class="note"><bdi>${ending}</bdi></p>`}${row.failure && html`<p class="note">failed: <bdi>${row.failure}</bdi></p>`}
${verdicts.map((v) => v.rationale && html`<p class="note"><bdi>${v.judge}</bdi>: <bdi>${v.rationale}</bdi></p>`)}
${thinking && html`<details class="thinking"><summary>Thinking, which no judge sees</summary><div class="text" dir="auto">${thinking}</div></details>`}`;
  }

  // passages splits a text at the ends of the judges' deciding spans, which count bytes.
  function passages(text, verdicts) {
    const bytes = new TextEncoder().encode(text), marks = verdicts.filter(({ span: s }) => s && s.start < s.end && s.end <= bytes.length);
    const edges = [...new Set([0, ...marks.flatMap((v) => [v.span.start, v.span.end]), bytes.length])].sort((a, b) => a - b);
    return edges.slice(1).map((to, i) => {
      const part = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.slice(edges[i], to)), by = marks.filter((v) => v.span.start <= edges[i] && to <= v.span.end).map((v) => v.judge).join(", ");
      return by ? html`<mark title="what decided for ${by}">${part}</mark>` : part;
    });
  }

  // show shows what the address says. A later address ends it.
  let turn = 0, shownAt = null;
  async function show() {
    const mine = ++turn;
    const q = new URLSearchParams(location.hash.slice(1));
    let some = q.get("q") ? await search(q.get("q")) : null;
    if (mine !== turn) return;
    if (q.get("prompt")) {
      const before = some;
      some = new Uint8Array(prompts.length);
      ids.forEach((id, p) => {
        if (id === q.get("prompt")) for (let r = starts[p]; r < starts[p + 1]; r++) some[r] = !before || before[r];
      });
    }
    const c = choose(q);
    const { counts, total } = facetsOf(c, some ? tally(some) : cells);
    const found = matched(q, c, some), after = Number(q.get("after")) || 0;
    // Fewer where many answers stand beside each other, as the server has it.
    const alone = q.get("by") === "answer", size = alone ? 50 : Math.max(10, Math.min(50, Math.floor(120 / samples.length)));
    const content = await showRows(found.slice(after, after + size), found, alone);
    if (mine !== turn) return;
    showFacets(q, counts);
    showLinks(q, total);
    const none = $("#rows").lastElementChild;
    none.hidden = total > 0;
    const made = document.createElement("template");
    made.innerHTML = content;
    $("#rows").replaceChildren(made.content, none);
    const next = $("#next");
    next.hidden = after + size >= found.length;
    const further = new URLSearchParams(q);
    further.set("after", after + size);
    next.href = "#" + further;
    if (shownAt !== null && shownAt !== after) scrollTo(0, 0);
    shownAt = after;
    document.dispatchEvent(new Event("orbench:shown"));
  }
  const failed = (e) => { $("#total").textContent = e.message; };
  const update = () => show().catch(failed);

  function apply() {
    const next = new URLSearchParams();
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      if (name !== "after" && !$("#filter").elements.namedItem(name)) next.append(name, value);
    }
    for (const [name, value] of new FormData($("#filter"))) if (value) next.append(name, value);
    location.hash = String(next);
  }
  $("#filter").addEventListener("change", apply);
  $("#filter").addEventListener("submit", (e) => { e.preventDefault(); apply(); });
  addEventListener("hashchange", update);

  script("answers/rows.js").then(() => { build(); return show(); }).catch(failed);
  return {
    rows: (list) => { lists.push(list); },
    names: (all) => { names = all; },
    file: (name, data) => { files.set(name, data); },
  };
})();

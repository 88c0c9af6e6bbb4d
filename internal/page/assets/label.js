"use strict";
// Labels: the queue of a person, and the forms at answers.
(() => {
  async function post(address, fields) {
    const reply = await fetch(address, { method: "POST", body: new URLSearchParams(fields) });
    const data = await reply.json().catch(() => ({}));
    if (!reply.ok) throw Object.assign(new Error(data.error || reply.status + " " + reply.statusText), { refused: reply.status < 500 });
    return data;
  }

  // The form at an answer. The Enter key gives no label there.
  document.addEventListener("click", async (e) => {
    const button = e.target.closest(".say-form button");
    const form = button?.form;
    if (!form || !form.reportValidity()) return;
    const fields = { do: "label", ...Object.fromEntries(new FormData(form)), [button.name]: button.value };
    const status = form.querySelector("[role=status]");
    status.textContent = "saving …";
    try {
      const { people } = await post(form.dataset.address, fields);
      const now = people.map((p) => p.person + ": " + p.word + (p.how ? " (" + p.how + ")" : "")).join("; ");
      status.textContent = fields.do === "send" ? "sent to " + fields.to : "saved, correcting no rate. " + now;
    } catch (err) {
      status.textContent = "Not saved: " + err.message + ". Try again.";
    }
  });

  const queue = document.getElementById("queue");
  const $ = (id) => document.getElementById(id);
  if (!queue) { // or it comes once the server is ready
    document.addEventListener("htmx:after:swap", () => { if ($("queue")) location.reload(); });
    return;
  }
  if (!$("head")) return;
  const address = queue.dataset.address;
  const shelf = "unsaved labels " + address + " ";
  const tab = (sessionStorage.tab ||= [...crypto.getRandomValues(new Uint32Array(3))].join("-"));
  const seen = () => (sessionStorage.getItem("rate " + address) ? "yes" : "");
  // items are to be labeled, the first of them next. recent were labeled, the latest last.
  let items = [], recent = [], shown = null, shownAt = 0, back = 0, note = "", data = null, waiting = "";
  // unsaved are what the server has not confirmed, in order.
  let unsaved = [], pumping = false, wait = 1000, wake = () => {};

  function say(text) { $("message").textContent = text; }
  const same = (a, b) => a.subject === b.subject && !a.again === !b.again;
  const of = (item) => ({ subject: item.subject, again: item.again ? "yes" : "" });
  const lines = (rates) => (rates || []).map((text) => Object.assign(document.createElement("p"), { textContent: text }));
  const short = (word) => queue.querySelector(`[data-word="${CSS.escape(word)}"]`)?.dataset.short || word;

  // lay shows a text whose first and last sentence stay in view where it is too long.
  function lay(box, text, [first, last]) {
    const part = (name, text) => Object.assign(document.createElement("div"), { className: name, textContent: text });
    box.replaceChildren(part("first", first), part("middle", text.slice(first.length, text.length - last.length)), part("last", last));
    box.scrollTop = 0;
    box.classList.remove("whole");
    box.classList.toggle("whole", box.scrollHeight <= box.clientHeight);
  }

  function show() {
    const item = back ? recent[recent.length - back] : items[0];
    for (const b of queue.querySelectorAll("[data-word]")) b.setAttribute("aria-pressed", String(!!item && b.dataset.word === item.word));
    for (const q of queue.querySelectorAll("[data-of]")) q.hidden = !!item && q.dataset.of !== (item.of_prompt ? "prompt" : "answer");
    if (item !== shown || !item) {
      queue.classList.remove("finer");
      const empty = ["", ""];
      lay($("asked"), item ? item.prompt : "", item ? item.prompt_ends : empty);
      if ($("reply")) lay($("reply"), item ? item.answer || "" : "", item ? item.answer_ends : empty);
      note = item?.note || "";
      shownAt = performance.now();
    }
    shown = item;
    if (data) head();
    const ended = !item && data && !unsaved.length && data.labeled >= data.all;
    $("step").hidden = !ended;
    queue.classList.toggle("ended", !!ended);
    if (ended) {
      $("so-far").replaceChildren(...lines(data.rates));
      if (data.differing) $("so-far").lastChild.append(": ", Object.assign(document.createElement("a"), { href: data.differing, textContent: "see them" }));
      $("more").hidden = !data.next;
      const minutes = Math.ceil(data.next * data.seconds_per_label / 60);
      $("more").textContent = `Draw ${data.next}${data.all ? " more" : ""}, about ${minutes} min`;
    }
    if (data) $("head").hidden = !data.all;
    queue.classList.toggle("undrawn", !!data && !data.all);
    if (!item) say(waiting = !data || unsaved.length ? "…" : !ended ? "The others are open in another window." : data.all ? "This was the last. b goes back to a label." : "Nothing is drawn yet.");
    else if (item.word) say("Your label is " + short(item.word) + ". A key replaces it; k leaves it.");
    else if (item.said) say(item.said.map((s) => s.person + ": " + short(s.word) + (s.note ? " (" + s.note + ")" : "")).join("; "));
    else if (item.reason) say("You left it for later: " + item.reason);
    else if ($("message").textContent === waiting) say("");
  }

  function head() {
    const waiting = unsaved.length ? "   saving " + unsaved.length : "";
    // Of a label to which the person went back it is the number that leads there.
    const at = back ? data.head.replace(/\d+(?= of )/, data.labeled - back + 1) : data.head;
    $("head").textContent = at + "   " + data.seconds_per_label + " s a label" + (data.rate_seen ? "   rate seen" : "") + waiting;
  }

  // merge takes in what the server says, but for what it cannot know yet.
  function merge(news) {
    data = news;
    items.push(...news.items.filter((i) => ![...unsaved, ...items].some((known) => same(known, i))));
    if (!recent.length && !unsaved.length) recent = news.recent;
    head();
    if (!shown && !back) show();
  }

  function keep() {
    if (unsaved.length) localStorage.setItem(shelf + tab, JSON.stringify(unsaved));
    else localStorage.removeItem(shelf + tab);
  }

  function complain(err) {
    $("unsaved").hidden = !err;
    if (!err) return;
    const n = unsaved.filter((u) => u.subject).length;
    const what = n === 0 ? "The next answers cannot be read: " : n === 1 ? "A label is not saved: " : n + " labels are not saved: ";
    $("unsaved").firstElementChild.textContent = what + err.message + (err.refused ? "." : ". It is tried again.");
    $("drop").hidden = !err.refused;
  }

  // pump saves one after the other, and tries again until the server takes it.
  async function pump() {
    if (pumping) return;
    pumping = true;
    while (unsaved.length) {
      try {
        const news = await post(address, { ...unsaved[0], window: tab, seen: seen() });
        unsaved.shift();
        wait = 1000;
        complain(null);
        keep();
        merge(news);
      } catch (err) {
        complain(err);
        await new Promise((resolve) => { wake = resolve; setTimeout(resolve, wait); });
        wait = Math.min(30000, wait * 2);
      }
    }
    pumping = false;
    if (!shown) show();
  }

  function send(fields) {
    unsaved.push(fields);
    keep();
    if (data) head();
    pump();
  }

  function label(word) {
    if (!shown) return;
    if (performance.now() - shownAt < Number(queue.dataset.soon)) return say("A key typed before this was on the screen does not count for it.");
    const item = shown;
    send({ do: "label", ...of(item), word, note });
    Object.assign(item, { word, note, reason: "" });
    recent = recent.filter((i) => i !== item);
    recent.push(item);
    items = items.filter((i) => i !== item);
    next("labeled: " + short(word));
  }

  function next(text) {
    back = 0;
    say(text);
    show();
  }

  function undo() {
    const item = recent.pop();
    if (!item) return say("There is no label to take back.");
    send({ do: "undo", ...of(item) });
    Object.assign(item, { word: "", note: "" });
    items.unshift(item);
    next("taken back");
  }

  function write(what, value, done) {
    $("write-what").textContent = what;
    $("written").value = value;
    $("write").onclose = () => { if ($("write").returnValue === "kept") done($("written").value.trim()); };
    $("write").returnValue = "";
    $("write").showModal();
  }
  $("write").firstElementChild.addEventListener("submit", (e) => {
    e.preventDefault();
    $("write").close("kept");
  });

  function skip() {
    if (!shown || shown.word) return next("");
    const item = shown;
    write("Why do you leave it for later?", "", (reason) => {
      if (!reason) return say("Not skipped: no reason is given.");
      send({ do: "skip", ...of(item), note: reason });
      items = items.filter((i) => i !== item);
      next("left for later");
    });
  }

  async function rate() {
    try {
      sessionStorage.setItem("rate " + address, "seen");
      const news = await post(address, { do: "rate", window: tab });
      $("rates").replaceChildren(...lines(news.rates || ["There are too few labels for a rate."]));
      merge(news);
    } catch (err) {
      $("rates").textContent = err.message;
    }
  }

  function press(key) {
    const of = queue.querySelector(`[data-of]:not([hidden]) [data-word][data-key="${CSS.escape(key)}"]`);
    const box = $("reply") || $("asked");
    if (of) label(of.dataset.word);
    else if (key === "n") write("A note for this label", note, (text) => { note = text; say(text ? "note: " + text : ""); });
    else if (key === "f") queue.classList.add("finer");
    else if (key === "k") skip();
    else if (key === "u") undo();
    else if (key === "b") {
      if (back >= recent.length) return say(data?.labeled > back ? "This page goes back no further; orbench label does." : "There is no label before.");
      back++;
      show();
    } else if (key === "R") { $("rates").replaceChildren(); $("rate").showModal(); }
    else if (key === "?") $("keys").showModal();
    else if (key === " ") box.scrollTop = box.scrollTop + box.clientHeight >= box.scrollHeight - 1 ? 0 : box.scrollTop + 0.6 * box.clientHeight;
    else if (key.length === 1) say("'" + key + "' is no key here. ? lists the keys.");
  }

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
    const open = document.querySelector("dialog[open]");
    if (open?.id === "keys" && e.key.length === 1) { e.preventDefault(); open.close(); } // and does nothing else
    if (open) return;
    if (e.key === " " && e.target.matches("button, a")) return;
    if (e.key === " ") e.preventDefault();
    if (e.key === "n") e.preventDefault(); // it would be written into the note
    if (e.key === "k") e.preventDefault();
    press(e.key);
  });
  queue.addEventListener("click", (e) => {
    const b = e.target.closest("button");
    if (!b) return;
    if (b.dataset.key) press(b.dataset.key);
    else if (b.classList.contains("close")) b.closest("dialog").close();
    else if (b.id === "show-rate") rate();
    else if (b.id === "more") send({ do: "more" });
    else if (b.id === "retry") wake();
    else if (b.id === "drop") { unsaved.shift(); complain(null); keep(); wake(); }
  });
  // Another window gets what this one showed, and this one what others left.
  addEventListener("pagehide", () => fetch(address, { method: "POST", keepalive: true, body: new URLSearchParams({ do: "leave", window: tab }) }).catch(() => {}));
  setInterval(() => { if (!shown && data && data.labeled < data.all && !unsaved.length) send({ do: "next" }); }, 10000);
  addEventListener("beforeunload", (e) => { if (unsaved.length) e.preventDefault(); });

  // What a closed window left unsaved is saved first.
  for (const name of Object.keys(localStorage)) {
    if (!name.startsWith(shelf)) continue;
    try { unsaved.push(...JSON.parse(localStorage.getItem(name))); } catch { /* it was cut off */ }
    localStorage.removeItem(name);
  }
  send({ do: "next" });
})();

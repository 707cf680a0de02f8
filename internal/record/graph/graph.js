"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = id => document.getElementById(id);
  const canvas = at("canvas"), scroll = at("scroll"), details = at("details");
  const pen = canvas.getContext("2d");
  const steps = data.steps, messages = data.messages;
  // The network has a column of its own where something happens to it.
  const columns = data.nodes.slice();
  const hasNetwork = steps.some(s => s.row < 0);
  if (hasNetwork) columns.push("network");
  const column = s => s.row < 0 ? columns.length - 1 : s.row;

  const arrives = new Map(), sends = new Map();
  messages.forEach(m => {
    if (!sends.has(m.Sent)) sends.set(m.Sent, []);
    sends.get(m.Sent).push(m);
    m.Arrived.forEach(n => { if (!arrives.has(n)) arrives.set(n, []); arrives.get(n).push(m); });
  });

  const state = { zoom: 1, byTime: false, selected: 0, past: null, only: false, query: "", hits: [], hit: -1,
    show: { timers: true, "empty messages": true, lines: true, values: true }, hidden: new Set() };
  const gutter = 130, top = 26;
  let ys = [], order = [], height = 0, colours = {};

  const whole = n => (Number(n) / 1e9).toFixed(6) + " s";
  const isQuiet = s => s.kind === "timer" && !(s.outcomes || []).length && !sends.has(s.step);
  const marked = s => s.deviation || s.kind === "fault" || s.step === data.violation || s.step === state.selected;
  function visible(s) {
    if (state.hidden.has(column(s))) return false;
    if (state.only && state.past && !state.past.has(s.step)) return false;
    if (marked(s)) return true;
    if (!state.show.timers && s.kind === "timer") return false;
    if (!state.show["empty messages"] && s.kind === "message" && !s.protocol && !(s.outcomes || []).length) return false;
    return true;
  }

  // layout places each visible step: by order one below the other, or by virtual time with a least
  // distance.
  function layout() {
    const row = Math.max(3, 22 * state.zoom);
    ys = new Array(steps.length + 1).fill(-1);
    order = [];
    let y = top + 14, last = null;
    const perSecond = 400 * state.zoom;
    steps.forEach(s => {
      if (!visible(s)) return;
      if (state.byTime && last !== null) {
        y += Math.min(600, Math.max(4, (Number(s.at_ns) - last) / 1e9 * perSecond));
        last = Math.max(last, Number(s.at_ns));
      } else {
        if (order.length) y += row;
        last = Number(s.at_ns);
      }
      ys[s.step] = y;
      order.push(s);
    });
    height = y + 60;
    at("space").style.height = height + "px";
    draw();
  }

  const x = c => gutter + (c + 0.5) * ((scroll.clientWidth - gutter - 10) / columns.length);
  const width = () => (scroll.clientWidth - gutter - 10) / columns.length;

  function theme() {
    const css = getComputedStyle(document.body);
    for (const name of ["back", "text", "faint", "line", "accent", "bad", "late", "good", "value"]) colours[name] = css.getPropertyValue("--" + name).trim();
  }

  function colourOf(s) {
    if (s.step === data.violation || s.kind === "fault" || s.deviation === "fault" || s.deviation === "choice") return colours.bad;
    if (s.deviation) return colours.late;
    if (s.kind === "start") return colours.good;
    if ((s.outcomes || []).some(o => o.kind === "exposed")) return colours.value;
    return colours.accent;
  }

  function textOf(s) {
    let text = s.kind === "message" && !s.protocol ? s.text : (s.kind === "timer" && !(s.outcomes || []).length ? "" : s.text);
    (s.outcomes || []).forEach(o => {
      if (o.kind === "line" && !state.show.lines || o.kind === "exposed" && !state.show.values) return;
      text += (text ? "  | " : "") + o.text;
    });
    return text;
  }

  const dim = n => state.past && !state.past.has(n);

  function draw() {
    const ratio = window.devicePixelRatio || 1, w = scroll.clientWidth, h = scroll.clientHeight;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
      canvas.style.width = w + "px"; canvas.style.height = h + "px";
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.back; pen.fillRect(0, 0, w, h);
    const from = scroll.scrollTop, to = from + h;
    pen.lineWidth = 1;
    columns.forEach((name, c) => {
      pen.strokeStyle = colours.line; pen.globalAlpha = state.hidden.has(c) ? 0.3 : 1;
      pen.beginPath(); pen.moveTo(x(c), top); pen.lineTo(x(c), h); pen.stroke();
    });
    pen.globalAlpha = 1;
    messages.forEach(m => drawMessage(m, from, to));
    pen.font = "12px ui-monospace, monospace"; pen.textBaseline = "middle";
    const row = 22 * state.zoom;
    let lastText = -100;
    const first = lowest(from - 40);
    for (let i = first; i < order.length && ys[order[i].step] < to + 40; i++) {
      const s = order[i], y = ys[s.step] - from, c = column(s);
      if (s.step === data.parts) {
        pen.globalAlpha = 1; pen.strokeStyle = pen.fillStyle = colours.late;
        pen.setLineDash([8, 4]); line(0, y - 10, w, y - 10); pen.setLineDash([]);
        pen.textAlign = "end"; pen.fillText("from here on the executions differ", w - 8, y - 18); pen.textAlign = "start";
      }
      pen.globalAlpha = dim(s.step) ? 0.2 : 1;
      pen.fillStyle = colourOf(s);
      const r = s.step === state.selected ? 6 : marked(s) ? 5 : 3.5;
      pen.beginPath();
      if (s.kind === "timer") pen.rect(x(c) - r + 1, y - r + 1, 2 * r - 2, 2 * r - 2);
      else if (s.kind === "fault") { pen.moveTo(x(c), y - r - 1); pen.lineTo(x(c) + r + 1, y + r); pen.lineTo(x(c) - r - 1, y + r); pen.closePath(); }
      else pen.arc(x(c), y, r, 0, 7);
      pen.fill();
      if (state.hits.includes(s.step)) { pen.strokeStyle = colours.late; pen.lineWidth = 2; pen.strokeRect(x(c) - 9, y - 9, 18, 18); pen.lineWidth = 1; }
      if (y - lastText >= 11 || marked(s)) {
        lastText = y;
        pen.fillStyle = colours.faint;
        pen.fillText(String(s.step).padStart(5) + " " + (Number(s.at_ns) / 1e9).toFixed(4), 6, y);
        pen.fillStyle = marked(s) ? colourOf(s) : colours.text;
        clip(textOf(s), x(c) + 10, y, width() - 16);
      }
    }
    pen.globalAlpha = 1;
    pen.fillStyle = colours.back; pen.fillRect(0, 0, w, top - 4);
    pen.font = "bold 13px system-ui, sans-serif"; pen.fillStyle = colours.text; pen.textAlign = "center";
    columns.forEach((name, c) => pen.fillText(name.slice(0, 40), x(c), 12));
    pen.textAlign = "start";
  }

  // lowest is the first of order that is not above y.
  function lowest(y) {
    let a = 0, b = order.length;
    while (a < b) { const m = (a + b) >> 1; if (ys[order[m].step] < y) a = m + 1; else b = m; }
    return a;
  }

  function clip(text, left, y, most) {
    if (!text || most < 12) return;
    let n = Math.min(text.length, Math.ceil(most / 6));
    pen.save();
    pen.beginPath(); pen.rect(left, y - 10, most, 20); pen.clip();
    const part = text.slice(0, n), ink = pen.fillStyle, alpha = pen.globalAlpha;
    pen.fillStyle = colours.back; pen.globalAlpha = 0.75;
    pen.fillRect(left - 2, y - 8, Math.min(most, pen.measureText(part).width + 4), 16);
    pen.fillStyle = ink; pen.globalAlpha = alpha;
    pen.fillText(part, left, y);
    pen.restore();
  }

  function drawMessage(m, from, to) {
    const y0 = ys[m.Sent];
    if (y0 < 0 || state.hidden.has(m.To)) return;
    const ends = m.Arrived.filter(n => ys[n] >= 0);
    const late = ends.some(n => steps[n - 1].deviation === "late");
    const lost = !m.Arrived.length;
    if (!state.show["empty messages"] && !m.Size && !late && !m.Struck) return;
    pen.strokeStyle = m.Struck ? colours.bad : late ? colours.late : colours.faint;
    pen.fillStyle = pen.strokeStyle;
    ends.forEach(n => {
      if (Math.max(y0, ys[n]) < from || Math.min(y0, ys[n]) > to) return;
      pen.globalAlpha = dim(n) || dim(m.Sent) ? 0.12 : m.Size ? 0.9 : 0.45;
      arrow(x(m.From), y0 - from, x(m.To), ys[n] - from, late);
    });
    if (lost && y0 >= from - 20 && y0 <= to) {
      // It did not arrive: half an arrow with a cross.
      pen.globalAlpha = dim(m.Sent) ? 0.12 : 0.8;
      pen.strokeStyle = m.Struck ? colours.bad : colours.late;
      const xe = x(m.From) + (x(m.To) - x(m.From)) * 0.45, ye = y0 - from + 12;
      pen.setLineDash([3, 3]); line(x(m.From), y0 - from, xe, ye); pen.setLineDash([]);
      line(xe - 4, ye - 4, xe + 4, ye + 4); line(xe - 4, ye + 4, xe + 4, ye - 4);
    }
    pen.globalAlpha = 1;
  }

  function line(a, b, c, d) { pen.beginPath(); pen.moveTo(a, b); pen.lineTo(c, d); pen.stroke(); }

  function arrow(a, b, c, d, late) {
    if (late) pen.setLineDash([6, 3]);
    line(a, b, c, d);
    pen.setLineDash([]);
    const t = Math.atan2(d - b, c - a), l = 7;
    c -= 4 * Math.cos(t); d -= 4 * Math.sin(t);
    pen.beginPath(); pen.moveTo(c, d);
    pen.lineTo(c - l * Math.cos(t - 0.4), d - l * Math.sin(t - 0.4));
    pen.lineTo(c - l * Math.cos(t + 0.4), d - l * Math.sin(t + 0.4));
    pen.fill();
  }

  // pastOf are the steps that come before one, and that.
  function pastOf(n) {
    const past = new Set(), open = [n];
    while (open.length) {
      const s = open.pop();
      if (past.has(s)) continue;
      past.add(s);
      (steps[s - 1].causes || []).forEach(c => open.push(c));
    }
    return past;
  }

  function select(n, jump) {
    state.selected = n;
    state.past = n ? pastOf(n) : null;
    if (state.only) layout();
    if (n && jump && ys[n] >= 0) scroll.scrollTop = ys[n] - scroll.clientHeight / 2;
    describe(n);
    draw();
  }

  function add(tag, text, className) {
    const e = document.createElement(tag);
    e.textContent = text;
    if (className) e.className = className;
    details.appendChild(e);
    return e;
  }

  function link(n, text) {
    const b = add("button", text);
    b.addEventListener("click", () => select(n, true));
  }

  function describe(n) {
    details.replaceChildren();
    if (!n) { add("p", "Click a step. Its causal past is then drawn in full, and all other steps are faint."); return; }
    const s = steps[n - 1];
    add("h2", "Step " + n + ", " + whole(s.at_ns) + ", " + columns[column(s)]);
    add("pre", (s.from ? "from " + s.from + ": " : "") + s.text);
    if (s.late_ns) add("p", "It came " + (s.late_ns / 1e9) + " s late.", "bad");
    if (s.deviation) add("p", "It does not follow the natural schedule: " + s.deviation + ".", "bad");
    if (n === data.violation) add("p", data.sentence, "bad");
    (s.outcomes || []).forEach((o, i) => {
      if (i === 0) add("h2", "What came of it");
      if (i < 200) add("pre", o.kind + ": " + o.text, o.kind === "lost" || o.kind === "choice" ? "bad" : "");
    });
    if (s.timer) add("pre", "next timer: " + s.timer);
    (arrives.get(n) || []).forEach(m => { add("h2", "Message from " + columns[m.From]); about(m); link(m.Sent, "sent in step " + m.Sent); });
    (sends.get(n) || []).forEach(m => {
      add("h2", "Sent to " + columns[m.To]); about(m);
      m.Arrived.forEach(k => link(k, "arrives in step " + k));
      if (m.Struck) link(m.Struck, "hit by step " + m.Struck);
      if (!m.Arrived.length) add("p", m.Struck ? "It did not arrive." : "It had not arrived when the execution ended.", m.Struck ? "bad" : "");
    });
    add("h2", "Causal past: " + (state.past.size - 1) + " of " + (n - 1) + " earlier steps");
    (s.causes || []).forEach(c => link(c, "step " + c + " (" + columns[column(steps[c - 1])] + ")"));
  }

  function about(m) {
    add("pre", m.Ports + (m.Flags ? " " + m.Flags : "") + (m.Size ? ", " + m.Size + " B" + (m.Protocol ? ", " + m.Protocol : "") : ""));
    if (m.Text) add("pre", m.Text);
    if (m.Hex) add("pre", m.Hex);
  }

  function search() {
    const q = state.query.toLowerCase();
    state.hits = [];
    if (q) steps.forEach(s => {
      const text = [s.step, s.node || "network", s.from || "", s.text, ...(s.outcomes || []).map(o => o.text), ...(sends.get(s.step) || []).map(m => m.Text)].join(" ").toLowerCase();
      if (text.includes(q)) state.hits.push(s.step);
    });
    state.hit = -1;
    at("hits").textContent = q ? state.hits.length + " hits" : "";
    draw();
  }

  function go(by) {
    if (!state.hits.length) return;
    state.hit = (state.hit + by + state.hits.length) % state.hits.length;
    select(state.hits[state.hit], true);
  }

  function zoom(by, y) {
    const was = state.zoom, where = scroll.scrollTop + y;
    state.zoom = Math.min(8, Math.max(0.1, state.zoom * by));
    layout();
    scroll.scrollTop = where * state.zoom / was - y;
  }

  at("title").textContent = data.name + ": " + steps.length + " steps";
  at("sentence").textContent = data.sentence || "";
  at("search").addEventListener("input", e => { state.query = e.target.value; search(); });
  at("search").addEventListener("keydown", e => { if (e.key === "Enter") go(e.shiftKey ? -1 : 1); });
  at("next").addEventListener("click", () => go(1));
  at("previous").addEventListener("click", () => go(-1));
  at("in").addEventListener("click", () => zoom(1.4, scroll.clientHeight / 2));
  at("out").addEventListener("click", () => zoom(1 / 1.4, scroll.clientHeight / 2));
  at("axis").addEventListener("click", e => { state.byTime = !state.byTime; e.target.textContent = state.byTime ? "By order" : "By time"; layout(); if (state.selected) select(state.selected, true); });
  at("fault").addEventListener("click", () => { if (data.violation) select(data.violation, true); });
  at("only").addEventListener("click", e => { state.only = !state.only; e.target.className = state.only ? "on" : ""; layout(); if (state.selected) select(state.selected, true); });
  at("theme").addEventListener("click", () => {
    const dark = document.body.classList.contains("dark") || !document.body.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches;
    document.body.className = dark ? "light" : "dark";
    theme(); draw();
  });
  function filter(name, checked, change) {
    const l = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox"; box.checked = checked;
    box.addEventListener("change", () => { change(box.checked); layout(); });
    l.append(box, document.createTextNode(" " + name));
    at("filters").appendChild(l);
  }
  Object.keys(state.show).forEach(name => filter(name, true, on => { state.show[name] = on; }));
  columns.forEach((name, c) => filter(name, true, on => { if (on) state.hidden.delete(c); else state.hidden.add(c); }));
  scroll.addEventListener("scroll", draw);
  scroll.addEventListener("wheel", e => { if (e.ctrlKey) { e.preventDefault(); zoom(e.deltaY < 0 ? 1.15 : 1 / 1.15, e.offsetY); } }, { passive: false });
  scroll.addEventListener("keydown", e => {
    const i = order.findIndex(s => s.step === state.selected);
    if (e.key === "Escape") select(0);
    else if (e.key === "ArrowDown" && i >= 0 && i + 1 < order.length) { e.preventDefault(); select(order[i + 1].step, true); }
    else if (e.key === "ArrowUp" && i > 0) { e.preventDefault(); select(order[i - 1].step, true); }
  });
  canvas.addEventListener("click", e => {
    const box = canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top + scroll.scrollTop;
    let best = 0, distance = 16;
    for (let i = lowest(py - 20); i < order.length && ys[order[i].step] < py + 20; i++) {
      const s = order[i], d = Math.abs(ys[s.step] - py) + (px > gutter && (px < x(column(s)) - 14 || px > x(column(s)) + width()) ? 12 : 0);
      if (d < distance) { best = s.step; distance = d; }
    }
    select(best);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); draw(); });
  window.addEventListener("resize", draw);
  theme(); layout();
  if (data.parts) { scroll.scrollTop = ys[data.parts] - scroll.clientHeight / 2; draw(); }
  else if (data.violation) select(data.violation, true);
})();

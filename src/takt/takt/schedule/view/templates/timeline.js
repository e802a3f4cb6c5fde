// SPDX-License-Identifier: Apache-2.0
// The timeline: what is in sight, and what moves it: wheel, drag, two fingers, keys, buttons and the search.
"use strict";
(async () => {
  const about = JSON.parse(document.getElementById("about").textContent);
  const packed = document.getElementById("data");
  const data = await rows.unpack(about, packed.textContent);
  packed.remove();
  const all = about.rows.map((row) => rows.columns(row, data));
  const [canvas, box, tall] = ["time", "lanes", "tall"].map((id) => document.getElementById(id));
  const pen = canvas.getContext("2d"), search = document.getElementById("search"), found = document.getElementById("found");
  const view = { from: 0, to: about.duration || 1 };
  let shown = all, matched = null, chosen = null, at, look = draw.colours(), asked = false;
  const least = 1000; // ns in sight

  // Stretches in which preempted jobs had a core, by job: from the rows of the cores.
  const pieces = new Map();
  for (const row of all) {
    if (row.kind !== "span" || (row.group === "cores" && all.some((one) => one.group === "threads"))) continue;
    for (let i = 0; i < row.begin.length; i++) {
      const task = data.spanTask[row.first + i];
      if (!pieces.has(task)) pieces.set(task, []);
      pieces.get(task).push([row.begin[i], row.begin[i] + row.length[i]]);
    }
  }
  for (const one of pieces.values()) {
    one.sort((a, b) => a[0] - b[0]);
    one.longest = one.reduce((most, [from, to]) => Math.max(most, to - from), 0);
  }

  function running(row, piece) {
    if (!row.preempted) return;
    const some = pieces.get(row.task) ?? [], pixel = (view.to - view.from) / (at.right - at.left);
    if (!(some.longest >= pixel)) return;
    let low = 0, high = some.length;
    while (low < high) { const middle = (low + high) >> 1; if (some[middle][0] < view.from - row.longest) low = middle + 1; else high = middle; }
    for (let drawn = 0; low < some.length && some[low][0] < view.to && drawn < 5000; low++, drawn++) if (some[low][1] - some[low][0] >= pixel) piece(...some[low]);
  }
  for (const row of all) row.preempted = row.flags?.some((flag) => flag & 4);

  function redraw() {
    if (!asked) requestAnimationFrame(paint);
    asked = true;
  }

  function paint() {
    asked = false;
    const width = box.clientWidth, scale = window.devicePixelRatio || 1;
    at = draw.lay(shown, width);
    const height = Math.min(at.height, Math.floor(window.innerHeight * 0.7) - 2);
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
      canvas.style.height = `${height}px`;
    }
    tall.style.height = `${Math.max(0, at.height - height)}px`;
    at.x = (ns) => at.left + ((ns - view.from) / (view.to - view.from)) * (at.right - at.left);
    const up = box.scrollTop;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = draw.text;
    pen.clearRect(0, 0, width, height);
    draw.axis(pen, at, view, look, height);
    pen.save();
    pen.beginPath(); pen.rect(0, draw.HEAD, width, height - draw.HEAD); pen.clip();
    const rowOf = new Map();
    shown.forEach((row, i) => {
      const y = at.tops[i] - up;
      if (row.kind === "job") rowOf.set(row.task, i);
      if (y > height || y + at.high < 0) return;
      draw.lane(pen, row, y, at, view, look, data, { matched, running });
      draw.label(pen, row, y, at, look, row === chosen?.row);
    });
    pen.fillStyle = look.quiet;
    for (const [name, y] of at.heads) pen.fillText(name, at.narrow ? at.left : 10, y - up + 14);
    const few = !document.getElementById("arrows").checked || draw.arrows(pen, at, view, look, data, rowOf, up);
    pen.restore();
    document.getElementById("hidden").textContent = few ? "" : " (zoom in to see them)";
    canvas.dataset.drawn = Number(canvas.dataset.drawn || 0) + 1;
    canvas.dataset.from = view.from;
    canvas.dataset.to = view.to;
  }

  function show(from, to) {
    const whole = about.duration || 1, wide = Math.min(Math.max(to - from, least), whole * 1.04);
    const begin = Math.min(Math.max(from + (to - from - wide) / 2, -whole * 0.02), whole * 1.02 - wide);
    [view.from, view.to] = [begin, begin + wide];
    redraw();
  }
  const zoom = (factor, middle = (view.from + view.to) / 2) => show(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
  const move = (share) => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
  const when = (x) => view.from + ((x - at.left) / (at.right - at.left)) * (view.to - view.from);

  // The next job in this direction that missed its deadline, of the rows that are shown.
  function miss(way) {
    const middle = chosen?.missed ? chosen.begin : (view.from + view.to) / 2;
    let best = null;
    for (const row of shown) {
      if (!row.misses || !row.misses[row.begin.length]) continue;
      let i = rows.atLeast(row.begin, middle, 0, row.begin.length);
      if (way > 0) while (i < row.begin.length && (!(row.flags[i] & 1) || row.begin[i] <= middle)) i++;
      else do i--; while (i >= 0 && !(row.flags[i] & 1));
      if (i >= 0 && i < row.begin.length && (!best || (best.row.begin[best.i] - row.begin[i]) * way > 0)) best = { row, i };
    }
    if (best) select(best.row, best.i, true);
  }

  function select(row, i, centre) {
    const begin = row.begin[i], long = row.length[i];
    chosen = { row, begin, missed: Boolean(row.flags && row.flags[i] & 1) };
    tell(row, i);
    if (centre) {
      const wide = Math.min(view.to - view.from, long * 12);
      show(begin + long / 2 - wide / 2, begin + long / 2 + wide / 2);
      const top = at.tops[shown.indexOf(row)];
      if (top < box.scrollTop + draw.HEAD || top > box.scrollTop + canvas.clientHeight - at.high) box.scrollTop = top - canvas.clientHeight / 2;
    }
    redraw();
  }

  function tell(row, i) {
    const detail = document.getElementById("detail"), place = row.first + i, lines = [];
    const known = (name, value, shownAs = draw.time) => Number.isNaN(value) || lines.push([name, shownAs(value)]);
    if (row.kind === "job") {
      const wait = data.jobWait[place], flags = data.jobFlags[place];
      lines.push(["callback", row.name], ["job", String(data.jobNumber[place])], ["ran on", about.cores[data.jobCore[place]] ?? "–"]);
      known("released at", row.begin[i] - wait, draw.moment);
      known("began at", row.begin[i], draw.moment);
      known("waited", wait);
      known(flags & 2 ? "no end; ran for" : "from begin to end", row.length[i]);
      if (!(flags & 2)) known("response", wait + row.length[i]);
      known("CPU time", data.jobCpu[place]);
      known("deadline", data.jobDeadline[place]);
      if (flags & 1) known("missed by", wait + row.length[i] - data.jobDeadline[place]);
    } else {
      const name = row.kind === "program" ? about.programs[data.programName[place]] : about.tasks[data.spanTask[place]];
      lines.push([row.kind === "program" ? "program" : "callback", name], ["on", row.name], ["from", draw.moment(row.begin[i])], ["for", draw.time(row.length[i])]);
    }
    detail.replaceChildren(...lines.map(([name, value]) => {
      const part = document.createElement("div");
      part.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
      return part;
    }));
    detail.hidden = false;
  }

  // What is below the pointer; the nearest within three pixels.
  function below(x, y) {
    const place = shown.findIndex((_, i) => y + box.scrollTop >= at.tops[i] && y + box.scrollTop < at.tops[i] + at.high);
    if (place < 0 || x < at.left) return null;
    const row = shown[place], time = when(x), near = (3 * (view.to - view.from)) / (at.right - at.left);
    let best = null;
    for (let i = rows.atLeast(row.begin, time - row.longest - near, 0, row.begin.length); i < row.begin.length && row.begin[i] <= time + near; i++) {
      const far = Math.max(row.begin[i] - time, time - row.begin[i] - row.length[i], 0);
      if (far <= near && (!best || far <= best.far)) best = { row, i, far };
    }
    return best;
  }

  function find() {
    const text = search.value.trim().toLowerCase(), jobs = all.filter((row) => row.kind === "job");
    const hits = jobs.filter((row) => row.name.toLowerCase().includes(text));
    matched = text ? new Set(hits.map((row) => row.task)) : null;
    shown = text ? all.filter((row) => row.kind !== "job" || matched.has(row.task)) : all;
    found.textContent = text ? `${hits.length} of ${jobs.length} callbacks` : "";
    box.scrollTop = 0;
    redraw();
  }
  search.addEventListener("input", find);
  search.addEventListener("keydown", ({ key }) => {
    const row = key === "Enter" && matched && shown.find((one) => one.kind === "job");
    if (!row) return;
    const i = Math.min(rows.atLeast(row.begin, (view.from + view.to) / 2, 0, row.begin.length), row.begin.length - 1);
    select(row, i, true);
  });

  const doing = { in: () => zoom(0.5), out: () => zoom(2), all: () => show(0, about.duration), next: () => miss(1), previous: () => miss(-1) };
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", doing[button.dataset.do]);
  document.getElementById("arrows").addEventListener("change", redraw);
  const keys = { ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": doing.in, "=": doing.in, "-": doing.out, 0: doing.all, n: doing.next, p: doing.previous };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    if (sideways) move((event.deltaX || event.deltaY) / 1000);
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), when(event.offsetX));
  }, { passive: false });

  const fingers = new Map();
  let start = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.offsetX);
    start = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, up: box.scrollTop, moved: false, range: event.shiftKey };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) {
      const hit = below(event.offsetX, event.offsetY);
      canvas.title = hit ? `${hit.row.kind === "job" ? hit.row.name : (about.tasks[data.spanTask[hit.row.first + hit.i]] ?? "")} ${draw.time(hit.row.length[hit.i])}` : "";
      return;
    }
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], wide = Math.abs(a - b);
      fingers.set(event.pointerId, event.offsetX);
      const [c, d] = [...fingers.values()];
      if (wide > 20 && Math.abs(c - d) > 20) zoom(wide / Math.abs(c - d), when((c + d) / 2));
      start.moved = true;
      return;
    }
    const by = event.offsetX - start.x;
    start.moved ||= Math.hypot(by, event.offsetY - start.y) > 4;
    if (start.range) {
      paint();
      pen.fillStyle = look.link; pen.globalAlpha = 0.25;
      pen.fillRect(start.x, draw.HEAD, by, canvas.clientHeight); pen.globalAlpha = 1;
    } else if (start.moved) {
      const ns = (by * (start.to - start.from)) / (at.right - at.left);
      show(start.from - ns, start.to - ns);
      if (event.pointerType === "mouse") box.scrollTop = start.up - (event.offsetY - start.y);
    }
  });
  const lift = (event) => {
    if (!fingers.delete(event.pointerId) || !start) return;
    if (start.range && start.moved) show(...[when(start.x), when(event.offsetX)].sort((a, b) => a - b));
    else if (!start.moved && event.type === "pointerup") {
      const hit = below(event.offsetX, event.offsetY);
      if (hit) select(hit.row, hit.i, false);
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("dblclick", (event) => zoom(0.25, when(event.offsetX)));
  box.addEventListener("scroll", redraw);
  new ResizeObserver(redraw).observe(box);
  const recolour = () => { look = draw.colours(); redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  document.addEventListener("takt:printing", recolour);
  redraw();
})();

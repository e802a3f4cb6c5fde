// SPDX-License-Identifier: Apache-2.0
// Draws the rows that are in sight on a canvas, in the colours of the page.
"use strict";
const draw = (() => {
  const HIGH = 24, NARROW_HIGH = 36, HEAD = 26, GAP = 20, ARROW_ROOM = 6;
  const text = "12px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    const found = Object.fromEntries(["ink", "quiet", "line", "grid", "card", "raised", "deadline", "link"].map((name) => [name, of(name)]));
    return { ...found, series: Array.from({ length: 8 }, (_, i) => of(`c${i}`)) };
  }

  // Where each row stands; a group has a heading.
  function lay(shown, width) {
    const narrow = width < 640, high = narrow ? NARROW_HIGH : HIGH, left = narrow ? 8 : Math.min(260, width * 0.24);
    let y = HEAD, group = "";
    const heads = [], tops = shown.map((row) => {
      if (row.group !== group) { group = row.group; heads.push([group, y]); y += GAP; }
      y += high;
      return y - high;
    });
    return { narrow, high, left, right: width - 8, tops, heads, height: y + 8 };
  }

  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  function time(ns, step = 0) {
    const [unit, name] = units.find(([size]) => Math.abs(step || ns) >= size) ?? units[3];
    const digits = step ? Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)) : 3;
    return `${(ns / unit).toFixed(Math.min(digits, 6))} ${name}`;
  }

  // A moment, exact to the microsecond.
  const moment = (ns) => `${(ns / 1e9).toFixed(6)} s`;

  function axis(pen, at, { from, to }, look, height) {
    const rough = (to - from) / Math.max(2, (at.right - at.left) / 120), power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => power * factor >= rough);
    pen.fillStyle = look.card;
    pen.fillRect(0, 0, at.right + 8, HEAD);
    pen.textAlign = "center";
    for (let mark = Math.ceil(from / step) * step; mark <= to; mark += step) {
      const x = Math.round(at.x(mark)) + 0.5;
      pen.strokeStyle = look.grid;
      pen.beginPath(); pen.moveTo(x, HEAD - 4); pen.lineTo(x, height); pen.stroke();
      const label = time(mark, step), half = pen.measureText(label).width / 2;
      pen.fillStyle = look.quiet;
      if (x + half < at.right + 6 && x - half > (at.narrow ? 0 : at.left - 40)) pen.fillText(label, x, 16);
    }
    pen.textAlign = "left";
  }

  const shorten = (pen, name, room) => {
    if (pen.measureText(name).width <= room) return name;
    let kept = name.length;
    while (kept > 3 && pen.measureText(`…${name.slice(-kept)}`).width > room) kept--;
    return `…${name.slice(-kept)}`;
  };

  function label(pen, row, y, at, look, bold) {
    pen.fillStyle = bold ? look.link : look.ink;
    if (at.narrow) pen.fillText(shorten(pen, row.name, at.right - 12), at.left, y + 11);
    else pen.fillText(shorten(pen, row.name, at.left - 18), 10, y + at.high / 2 + 4);
  }

  function lane(pen, row, y, at, view, look, data, state) {
    const top = y + (at.narrow ? 15 : 4), high = at.high - (at.narrow ? 18 : 8), pixel = (view.to - view.from) / (at.right - at.left);
    // To set a colour takes longer than to fill a rectangle.
    let last = "";
    const ink = (colour) => { if (colour !== last) pen.fillStyle = last = colour; };
    const colour = (i) => look.series[(row.kind === "program" ? data.programName[row.first + i] : row.kind === "job" ? row.task : data.spanTask[row.first + i]) % 8];
    // Pixels beside each other that look alike are one rectangle.
    let run = null;
    const flush = () => {
      if (!run) return;
      pen.globalAlpha = run.alpha;
      ink(run.colour);
      pen.fillRect(run.x, top, run.wide, high);
      pen.globalAlpha = 1;
      run = null;
    };
    const missed = [];
    const faint = (i) => state.matched && row.kind === "span" && !state.matched.has(data.spanTask[row.first + i]);
    rows.walk(row, view.from, view.to, pixel, (i, begin, end) => {
      const x = Math.max(at.x(begin), at.left), to = Math.min(at.x(end), at.right), flags = row.flags ? row.flags[i] : 0;
      // The time on the core is drawn over it, where the job was preempted.
      pen.globalAlpha = faint(i) ? 0.15 : flags & 4 ? 0.35 : 1;
      ink(colour(i));
      pen.fillRect(x, top, Math.max(to - x, 1), high);
      pen.globalAlpha = 1;
      if (flags & 1) { pen.strokeStyle = look.deadline; pen.lineWidth = 2; pen.strokeRect(x + 1, top + 1, Math.max(to - x - 2, 1), high - 2); pen.lineWidth = 1; }
      if (to - x > 3 && row.kind === "job") marks(pen, row, i, begin, { top, high }, at, look, data);
    }, (first, end, from) => {
      const share = Math.min(1, (row.time[end] - row.time[first]) / pixel), x = Math.max(at.x(from), at.left);
      const alpha = (faint(first) ? 0.2 : 1) * (0.3 + 0.7 * Math.round(share * 7) / 7);
      if (run && run.alpha === alpha && run.colour === colour(first) && Math.abs(run.x + run.wide - x) < 0.01) run.wide++;
      else { flush(); run = { x, wide: 1, alpha, colour: colour(first) }; }
      if (row.misses && row.misses[end] > row.misses[first]) missed.push(x);
    });
    flush();
    if (missed.length) ink(look.deadline);
    for (const x of missed) pen.fillRect(x - 1, top - 3, 3, 6);
    if (state.running && row.kind === "job") state.running(row, (begin, end) => {
      const x = Math.max(at.x(begin), at.left), to = Math.min(at.x(end), at.right);
      if (to > x) { pen.fillStyle = look.series[row.task % 8]; pen.fillRect(x, top, Math.max(to - x, 1), high); }
    });
  }

  // Its release, and the deadline where it is near.
  function marks(pen, row, i, begin, { top, high }, at, look, data) {
    const wait = data.jobWait[row.first + i], due = data.jobDeadline[row.first + i];
    if (Number.isNaN(wait)) return;
    const release = at.x(begin - wait), deadline = at.x(begin - wait + due);
    const rule = (x, colour, dash) => {
      if (x < at.left || x > at.right) return;
      pen.strokeStyle = colour; pen.setLineDash(dash); pen.lineWidth = 1.5;
      pen.beginPath(); pen.moveTo(x, top - 3); pen.lineTo(x, top + high + 3); pen.stroke();
      pen.setLineDash([]); pen.lineWidth = 1;
    };
    rule(release, look.quiet, []);
    if (due > 0) rule(deadline, look.deadline, [3, 2]);
  }

  // From a publication to its use, as far as both rows are shown; none where there are too many to see one.
  function arrows(pen, at, view, look, data, rowOf, offset) {
    const { messageFrom: from, messageTo: to, messageMaker: maker, messageUser: user } = data;
    const first = rows.atLeast(to, view.from, 0, to.length), last = rows.atLeast(to, view.to, first, to.length);
    if ((last - first) * ARROW_ROOM > at.right - at.left) return false;
    pen.save();
    pen.beginPath(); pen.rect(at.left, HEAD, at.right - at.left, pen.canvas.height); pen.clip();
    const mid = at.high / 2 + (at.narrow ? 6 : 0) - offset;
    pen.strokeStyle = look.quiet; pen.fillStyle = look.quiet;
    for (let i = first; i < last; i++) {
      const a = rowOf.get(maker[i]), b = rowOf.get(user[i]);
      if (a === undefined || b === undefined || at.x(from[i]) < at.left - 400) continue;
      const [x0, y0, x1, y1] = [at.x(from[i]), at.tops[a] + mid, at.x(to[i]), at.tops[b] + mid];
      const way = Math.sign(y1 - y0) || 1, end = y1 - way * at.high * 0.28;
      pen.beginPath(); pen.moveTo(x0, y0); pen.bezierCurveTo(x0, (y0 + end) / 2, x1, (y0 + end) / 2, x1, end); pen.stroke();
      pen.beginPath(); pen.moveTo(x1 - 3, end - way * 5); pen.lineTo(x1 + 3, end - way * 5); pen.lineTo(x1, end + way); pen.fill();
    }
    pen.restore();
    return true;
  }

  return { colours, lay, axis, label, lane, arrows, time, moment, text, HEAD };
})();

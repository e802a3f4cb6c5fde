// SPDX-License-Identifier: Apache-2.0
// Draws the charts of a page as SVG. Colours are the page's own, by class: a chart follows the theme without being
// drawn again. `drawing.show(specs)` draws each chart when it comes into sight, after its size changes and for print.
"use strict";
const drawing = (() => {
  const { amount } = numbers;

  // Ticks at 1, 2, 5 (or finer, where the range is short) instead of powers of ten alone.
  function powers(low, high) {
    for (const steps of [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1; power++)
        for (const step of steps) {
          const value = Number((step * 10 ** power).toPrecision(3));
          if (value >= low && value <= high) found.push(value);
        }
      if (found.length >= 4) return found;
    }
    return evenly(low, high);
  }

  function evenly(low, high) {
    const rough = (high - low) / 5 || 1, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((factor) => unit * factor >= rough);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  }

  // An axis: what is written beside it, whether it is logarithmic, its ends, and its ticks as [value, label].
  function axis(title, low, high, log = false, ticks = (log ? powers : evenly)(low, high)) {
    return { title, low, high, log, ticks: ticks.map((one) => (Array.isArray(one) ? one : [one, amount(one)])) };
  }
  function logAxis(title, values, margin = 0.03) {
    const positive = values.filter((value) => value > 0);
    const low = Math.min(...positive), high = Math.max(...positive);
    const spare = 10 ** (margin * Math.log10(high / low) + 0.01);
    return axis(title, low / spare, high * spare, true);
  }
  // Rows by name, the first on top.
  const rowAxis = (names) => ({ title: "", low: names.length - 0.5, high: -0.5, log: false, ticks: names.map((name, row) => [row, name]) });

  // Where a value lies between two pixels; what is beyond an end lies at the end.
  function scale({ low, high, log }, from, to) {
    const along = log ? Math.log : Number;
    const lowest = along(low), whole = along(high) - lowest;
    const least = Math.min(low, high), most = Math.max(low, high);
    return (value) => from + (to - from) * ((along(Math.min(Math.max(value, least), most)) - lowest) / whole);
  }

  function make(parent, name, attributes = {}, content = "") {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, typeof value === "number" ? Number(value.toFixed(2)) : value);
    one.textContent = content;
    return parent.appendChild(one);
  }

  function draw(element, spec) {
    const width = element.clientWidth, height = element.clientHeight;
    element.replaceChildren();
    const svg = make(element, "svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const back = make(svg, "g"), front = make(svg, "g");
    const labels = spec.y.ticks.map(([, label]) => make(back, "text", { class: "tick", "text-anchor": "end" }, label));
    const widest = Math.max(0, ...labels.map((one) => one.getBBox().width));
    const left = widest + (spec.y.title ? 28 : 10), right = width - 14, top = 10 + 14 * (spec.headroom || 0), bottom = height - 44;
    const x = scale(spec.x, left, right), y = scale(spec.y, bottom, top);
    frame(back, spec, labels, { x, y, left, right, top, bottom });
    const targets = [];
    for (const shape of spec.shapes) shapes[shape.kind](front, shape, { x, y, left, right, top, bottom }, targets);
    follow(svg, targets, { width, top });
    element.dataset.drawn = width;
  }

  function frame(back, spec, labels, { x, y, left, right, top, bottom }) {
    spec.y.ticks.forEach(([value], i) => {
      make(back, "path", { class: "grid", d: `M${left} ${y(value)}H${right}` });
      labels[i].setAttribute("x", left - 6);
      labels[i].setAttribute("y", y(value) + 4);
    });
    let taken = -Infinity; // labels that would touch the one before are left out, their line stays
    for (const [value, label] of spec.x.ticks) {
      make(back, "path", { class: "grid", d: `M${x(value)} ${top}V${bottom}` });
      const text = make(back, "text", { class: "tick", "text-anchor": "middle", x: x(value), y: bottom + 16 }, label);
      const half = text.getBBox().width / 2;
      if (x(value) - half < taken + 8 || x(value) + half > right + 14) text.remove();
      else taken = x(value) + half;
    }
    make(back, "text", { class: "axis-title", "text-anchor": "middle", x: (left + right) / 2, y: bottom + 36 }, spec.x.title);
    if (spec.y.title) make(back, "text", { class: "axis-title", "text-anchor": "middle", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)` }, spec.y.title);
  }

  const path = (points, { x, y }) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  const shapes = {
    // A line through points; `fill` closes it. `tips` says what stands at each point.
    line(front, { look, points, fill, tips = [] }, at, targets) {
      make(front, "path", { class: `line ${look}${fill ? " filled" : ""}`, d: path(points, at) + (fill ? "Z" : ""), ...(fill && { "fill-opacity": fill }) });
      for (const [place, text] of tips) targets.push({ from: at.x(place[0]), to: at.x(place[0]), y: at.y(place[1]), text });
    },
    dots(front, { look, points, symbol = "ring", left = false }, at, targets) {
      for (const [a, b, label, tip] of points) {
        const [cx, cy] = [at.x(a), at.y(b)];
        if (symbol === "cross") make(front, "path", { class: `cross ${look}`, d: `M${cx - 4} ${cy - 4}l8 8m0 -8l-8 8` });
        else make(front, "circle", { class: `ring ${look}`, cx, cy, r: 4 });
        if (label) {
          const end = cx > at.left + 0.8 * (at.right - at.left) || (left && cx > at.left + 36);
          make(front, "text", { class: "mark-label", x: cx + (end ? -8 : 8), y: cy + (end ? 12 : -6), "text-anchor": end ? "end" : "start" }, label);
        }
        targets.push({ from: cx, to: cx, y: cy, text: tip });
      }
    },
    // A straight line across the chart at one x or one y.
    rule(front, { look, x, y, label, lift = 0 }, at) {
      const [d, place] = x === undefined
        ? [`M${at.left} ${at.y(y)}H${at.right}`, { x: at.right, y: at.y(y) - 4, "text-anchor": "end" }]
        : [`M${at.x(x)} ${at.top}V${at.bottom}`, { x: at.x(x), y: at.top - 4 - 14 * lift, "text-anchor": at.x(x) > at.right - 30 ? "end" : "middle" }];
      make(front, "path", { class: `rule ${look}`, d });
      if (label) make(front, "text", { class: "mark-label", ...place }, label);
    },
    bar(front, { look, row, begin, length, tip }, at, targets) {
      const thick = 0.65 * Math.abs(at.y(1) - at.y(0)) || 20;
      const from = at.x(begin), to = Math.max(at.x(begin + length), from + 1);
      make(front, "rect", { class: `slab ${look}`, x: from, width: to - from, y: at.y(row) - thick / 2, height: thick });
      targets.push({ from, to, y: at.y(row), text: tip });
    },
  };

  // What is nearest to the pointer is said above it.
  function follow(svg, targets, { width, top }) {
    const tip = make(svg, "g", { class: "tip", visibility: "hidden" });
    const card = make(tip, "rect", { rx: 4 }), text = make(tip, "text", { x: 8, y: 16 }), ring = make(tip, "circle", { r: 5 });
    svg.addEventListener("pointerleave", () => tip.setAttribute("visibility", "hidden"));
    svg.addEventListener("pointermove", (event) => {
      const { left, top: above } = svg.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - above];
      const beside = (one) => Math.max(one.from - x, x - one.to, 0);
      const far = (one) => beside(one) + 0.3 * Math.abs(one.y - y);
      const near = targets.reduce((best, one) => (best && far(best) <= far(one) ? best : one), null);
      tip.setAttribute("visibility", near && beside(near) < 40 ? "visible" : "hidden");
      if (!near) return;
      text.textContent = near.text;
      const wide = text.getBBox().width + 16, at = Math.min(Math.max(x, near.from), near.to);
      const [boxX, boxY] = [Math.max(0, Math.min(at - wide / 2, width - wide)), near.y - 34 > top - 10 ? near.y - 34 : near.y + 10];
      tip.setAttribute("transform", `translate(${boxX} ${boxY})`);
      for (const [key, value] of [["width", wide], ["height", 24]]) card.setAttribute(key, value);
      for (const [key, value] of [["cx", at - boxX], ["cy", near.y - boxY]]) ring.setAttribute(key, value);
    });
  }

  function show(specs) {
    const charts = [...document.querySelectorAll(".chart")].filter((one) => specs[one.id]);
    const seen = (one) => one.clientWidth && one.checkVisibility?.() !== false;
    const redraw = (one) => seen(one) && String(one.clientWidth) !== one.dataset.drawn && draw(one, specs[one.id]());
    const watch = new ResizeObserver((entries) => entries.forEach((entry) => redraw(entry.target)));
    charts.forEach((one) => watch.observe(one));
    for (const fold of document.querySelectorAll("details")) fold.addEventListener("toggle", () => charts.forEach(redraw));
    document.addEventListener("takt:printing", () => charts.forEach(redraw));
  }

  return { axis, logAxis, rowAxis, show };
})();

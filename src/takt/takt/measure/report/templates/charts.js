// SPDX-License-Identifier: Apache-2.0
// What the charts of a run show, and the same numbers as tables.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const { amount } = numbers, { axis, logAxis } = drawing;
  const look = (one) => `c${one.colour % 8}`;
  const mostOf = (series) => Math.max(...series.flatMap((one) => one.y));
  const counts = (most) => axis("samples per bin", 0.7, most * 1.4, true, [...Array(9).keys()].map((power) => 10 ** power).filter((count) => count <= most * 1.4));

  // Bins as steps; an empty one lies on the axis, which starts under one sample.
  const steps = (one) => ({
    kind: "line", look: look(one), fill: 0.2,
    points: [[one.x[0], 0], ...one.y.flatMap((count, i) => [[one.x[i], count], [one.x[i + 1], count]]), [one.x.at(-1), 0]],
    tips: one.y.flatMap((count, i) => (count ? [[[(one.x[i] + one.x[i + 1]) / 2, count], `${amount(one.x[i])}–${amount(one.x[i + 1])} µs: ${amount(count)} samples`]] : [])),
  });

  const drawings = {
    histogram: ({ series }) => ({ x: logAxis("latency (µs)", series.flatMap((one) => one.x)), y: counts(mostOf(series)), shapes: series.map(steps) }),

    jitter({ series }) {
      const edges = series.flatMap((one) => one.x);
      return { x: axis("jitter (µs)", Math.min(...edges), Math.max(...edges)), y: counts(mostOf(series)), shapes: series.map(steps) };
    },

    tail({ series }) {
      const least = Math.min(...series.flatMap((one) => one.y));
      const powers = [...Array(12).keys()].map((power) => 10 ** -power).filter((share) => share >= least * 0.7);
      const share = (value) => (value >= 1e-4 ? `${Number((value * 100).toPrecision(1))} %` : `1 in ${amount(1 / value)}`);
      const y = axis("share that took longer", least * 0.7, 1.3, true, powers.map((one) => [one, share(one)]));
      const curve = (one) => ({
        kind: "line", look: look(one),
        points: one.x.flatMap((value, i) => (i ? [[value, one.y[i - 1]], [value, one.y[i]]] : [[value, one.y[0]]])),
        tips: one.x.map((value, i) => [[value, one.y[i]], `${amount(one.y[i] * 100)} % took longer than ${amount(value)} µs`]),
      });
      const marks = (one, place) => ({ kind: "dots", look: look(one), left: place % 2 === 1, points: one.marks.map((mark) => [mark.x, mark.y, mark.name, `${mark.name}: ${amount(mark.x)} µs`]) });
      return { x: logAxis("latency (µs)", series.flatMap((one) => one.x)), y, shapes: [...series.map(curve), ...series.map(marks)] };
    },

    time(chart) {
      const deadline = chart.deadline === null ? [] : [chart.deadline];
      const y = logAxis("response (µs)", [...chart.parts.flatMap((part) => [...part.low, ...part.high]), ...deadline], 0.08);
      const end = Math.max(0, ...chart.parts.map((part) => part.x.at(-1)), ...chart.lost, ...chart.breaks);
      // A band is one outline: along the slowest responses, and back along the fastest.
      const bands = chart.parts.map((part) => ({
        kind: "line", look: look(chart), fill: 0.4,
        points: [...part.x.map((at, i) => [at, part.high[i]]), ...part.x.map((at, i) => [at, part.low[i]]).reverse()],
        tips: part.x.map((at, i) => [[at, part.high[i]], `${amount(part.low[i])} to ${amount(part.high[i])} µs at ${amount(at)} s`]),
      }));
      return { x: axis("measured time (s)", 0, end || 1), y, shapes: [
        ...bands,
        ...chart.breaks.map((x) => ({ kind: "rule", look: "between", x })),
        ...deadline.map((at) => ({ kind: "rule", look: "deadline", y: at, label: `deadline ${amount(at)} µs` })),
        { kind: "dots", look: "deadline", symbol: "cross", points: chart.lost.map((at) => [at, y.high, "", `lost at ${amount(at)} s`]) },
      ] };
    },
  };

  const tables = {
    histogram: (chart) => [["series", "from (µs)", "to (µs)", "samples"],
      chart.series.flatMap((one) => one.y.flatMap((count, i) => (count ? [[one.name, one.x[i], one.x[i + 1], count]] : [])))],
    jitter: (chart) => tables.histogram(chart),
    tail: (chart) => [["series", "latency (µs)", "share that took longer"],
      chart.series.flatMap((one) => one.x.map((value, i) => [one.name, value, one.y[i]]))],
    time: (chart) => [["measured time (s)", "fastest (µs)", "slowest (µs)"],
      chart.parts.flatMap((part) => part.x.map((time, i) => [time, part.low[i], part.high[i]]))],
  };
  numbers.offer((id) => tables[charts[id].type](charts[id]));

  drawing.show(Object.fromEntries(Object.entries(charts).map(([id, chart]) => [id, () => drawings[chart.type](chart)])));
})();

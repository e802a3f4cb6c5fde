// SPDX-License-Identifier: Apache-2.0
// Draws the charts when they come into sight, again when the theme changes, and all of them for print.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const faint = (hex, share) => hex + Math.round(share * 255).toString(16).padStart(2, "0");
  const amount = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 }).replaceAll(",", "\u202f");

  // Ticks at 1, 2, 5 (or finer, where the range is short) instead of powers of ten alone.
  function ticks(low, high) {
    for (const steps of [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1; power++)
        for (const step of steps) {
          const value = Number((step * 10 ** power).toPrecision(3));
          if (value >= low && value <= high) found.push(value);
        }
      if (found.length >= 4) return found;
    }
    return undefined;
  }

  function logAxis(title, values, margin = 0.03) {
    const positive = values.filter((value) => value > 0);
    const low = Math.min(...positive), high = Math.max(...positive);
    const spare = margin * Math.log10(high / low) + 0.01;
    const range = [Math.log10(low) - spare, Math.log10(high) + spare];
    const tickvals = ticks(10 ** range[0], 10 ** range[1]);
    return { type: "log", title, range, tickvals, ticktext: tickvals && tickvals.map(amount) };
  }

  function layout(title, xaxis, yaxis, more) {
    const axis = {
      gridcolor: colour("--grid"), linecolor: colour("--line"), zeroline: false, automargin: true,
      tickfont: { color: colour("--quiet") },
    };
    const titled = (own) => ({ ...axis, ...own, title: { text: own.title, font: { color: colour("--quiet"), size: 13 }, standoff: 8 } });
    return {
      title: { text: title, x: 0, xref: "container", xanchor: "left", y: 0.98, yanchor: "top", font: { size: 15, color: colour("--ink"), weight: 600 } },
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 8, r: 14, t: 62, b: 8 },
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--quiet"), activecolor: colour("--ink") },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink") } },
      xaxis: titled(xaxis), yaxis: titled(yaxis), ...more,
    };
  }

  const drawings = {
    histogram(chart) {
      const most = Math.max(...chart.series.flatMap((one) => one.y));
      const traces = chart.series.map((one) => {
        const hex = colour("--c" + (one.colour % 8));
        return {
          // An empty bin lies below the axis, which starts under one sample.
          name: one.name, x: [one.x[0], ...one.x], y: [0.1, ...one.y.map((count) => count || 0.1), 0.1], mode: "lines",
          line: { shape: "hv", width: 1.8, color: hex }, fill: "tozeroy", fillcolor: faint(hex, 0.2),
          text: [0, ...one.y, 0].map((count, i) => `${amount(one.x[Math.max(i - 1, 0)])}–${amount(one.x[Math.min(i, one.y.length)])} µs: ${amount(count)} samples`),
          hovertemplate: "%{text}<extra>%{fullData.name}</extra>",
        };
      });
      const yaxis = logAxis("samples per bin", [0.7, most]);
      yaxis.range = [Math.log10(0.7), Math.log10(most) + 0.15];
      yaxis.tickvals = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
      yaxis.ticktext = yaxis.tickvals.map(amount);
      return [traces, layout("How many samples took how long", logAxis("latency (µs)", chart.series.flatMap((one) => one.x)), yaxis)];
    },

    jitter(chart) {
      const most = Math.max(...chart.series.flatMap((one) => one.y));
      const [traces, page] = drawings.histogram(chart);
      const yaxis = { ...page.yaxis, range: [Math.log10(0.7), Math.log10(most) + 0.15] };
      return [traces, { ...layout("Jitter of the intervals", { title: "jitter (µs)" }, { title: "samples per bin" }), yaxis }];
    },

    tail(chart) {
      const values = chart.series.flatMap((one) => one.x);
      const xaxis = logAxis("latency (µs)", values);
      const atTheEnd = (value) => Math.log10(value) > xaxis.range[0] + 0.85 * (xaxis.range[1] - xaxis.range[0]);
      const traces = chart.series.flatMap((one, place) => {
        const hex = colour("--c" + (one.colour % 8));
        return [
          { name: one.name, legendgroup: one.name, x: one.x, y: one.y, mode: "lines", line: { shape: "hv", width: 2, color: hex },
            hovertemplate: "%{y:.3~g} took longer than %{x:,.4~r} µs<extra>%{fullData.name}</extra>" },
          { legendgroup: one.name, showlegend: false, x: one.marks.map((mark) => mark.x), y: one.marks.map((mark) => mark.y),
            mode: "markers+text", text: one.marks.map((mark) => mark.name), textposition: one.marks.map((mark) => (!atTheEnd(mark.x) ? "top right" : place % 2 ? "middle left" : "bottom left")), textfont: { color: hex, size: 11 },
            marker: { size: 8, color: colour("--card"), line: { color: hex, width: 2 } }, cliponaxis: false,
            hovertemplate: "%{text}: %{x:,.4~r} µs<extra></extra>" },
        ];
      });
      const least = Math.min(...chart.series.flatMap((one) => one.y));
      const powers = [...Array(12).keys()].map((power) => 10 ** -power);
      const yaxis = { type: "log", title: "share that took longer", range: [Math.log10(least) - 0.15, 0.12], tickvals: powers,
        ticktext: powers.map((share) => (share >= 1e-4 ? `${Number((share * 100).toPrecision(1))} %` : `1 in ${amount(1 / share)}`)) };
      return [traces, layout("Share of samples that took longer", xaxis, yaxis)];
    },

    time(chart) {
      const hex = colour("--c" + (chart.colour % 8));
      const values = chart.parts.flatMap((part) => [...part.low, ...part.high]);
      const yaxis = logAxis("response (µs)", [...values, chart.deadline], 0.08);
      const top = 10 ** yaxis.range[1];
      const line = (x0, x1, y0, y1, look) => ({ type: "line", x0, x1, y0, y1, line: look, ...(x0 === x1 ? { yref: "paper" } : { xref: "paper" }) });
      // A band is one outline: along the slowest responses, and back along the fastest.
      const traces = chart.parts.map((part, i) => ({
        name: chart.name, showlegend: i === 0, x: [...part.x, ...[...part.x].reverse()], y: [...part.high, ...[...part.low].reverse()],
        mode: "lines", line: { width: 1, color: hex }, fill: "toself", fillcolor: faint(hex, 0.4), hoveron: "points",
        hovertemplate: "%{y:,.4~r} µs at %{x:.3~r} s<extra></extra>",
      }));
      if (chart.lost.length)
        traces.push({ name: "lost", x: chart.lost, y: chart.lost.map(() => top), mode: "markers", cliponaxis: false,
          marker: { symbol: "x", size: 9, color: colour("--deadline") }, hovertemplate: "lost at %{x:.3~r} s<extra></extra>" });
      return [traces, layout("Responses over time", { title: "measured time (s)", rangemode: "tozero" }, yaxis, {
        hovermode: "closest",
        shapes: [line(0, 1, chart.deadline, chart.deadline, { color: colour("--deadline"), width: 1.5, dash: "dash" }),
          ...chart.breaks.map((x) => line(x, x, 0, 1, { color: colour("--quiet"), width: 1, dash: "dot" }))],
        annotations: [{ xref: "paper", x: 1, y: Math.log10(chart.deadline), yanchor: "bottom", xanchor: "right", showarrow: false,
          text: `deadline ${amount(chart.deadline)} µs`, font: { color: colour("--deadline"), size: 11 } }],
      })];
    },
  };

  function draw(element) {
    const chart = charts[element.id];
    if (!chart || !element.offsetParent) return;
    const [traces, page] = drawings[chart.type](chart);
    if (element.clientWidth < 450) page.margin.t = 90; // the legend takes two lines
    if (document.documentElement.classList.contains("printing")) {
      page.width = element.clientWidth;
      page.height = element.clientHeight;
    } else {
      page.autosize = true;
    }
    Plotly.react(element, traces, page, { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] });
    element.dataset.drawn = "yes";
  }
  const all = () => document.querySelectorAll(".chart");
  const redraw = () => all().forEach((element) => element.dataset.drawn && draw(element));

  // The same numbers for eyes and ears that have no use for a chart.
  const tables = {
    histogram: (chart) => [["series", "from (µs)", "to (µs)", "samples"],
      chart.series.flatMap((one) => one.y.flatMap((count, i) => (count ? [[one.name, one.x[i], one.x[i + 1], count]] : [])))],
    jitter: (chart) => tables.histogram(chart),
    tail: (chart) => [["series", "latency (µs)", "share that took longer"],
      chart.series.flatMap((one) => one.x.map((value, i) => [one.name, value, one.y[i]]))],
    time: (chart) => [["measured time (s)", "fastest (µs)", "slowest (µs)"],
      chart.parts.flatMap((part) => part.x.map((time, i) => [time, part.low[i], part.high[i]]))],
  };
  function fill(details) {
    const chart = charts[details.dataset.for];
    if (!chart || details.querySelector("table")) return;
    const [heads, rows] = tables[chart.type](chart);
    const region = document.createElement("div");
    Object.assign(region, { className: "scroll", tabIndex: 0 });
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", "Numbers of the chart");
    const table = region.appendChild(document.createElement("table"));
    table.createCaption().textContent = document.getElementById(details.dataset.for).getAttribute("aria-label");
    const head = table.createTHead().insertRow();
    for (const text of heads) head.appendChild(Object.assign(document.createElement("th"), { textContent: text, scope: "col" }));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const value of row) line.insertCell().textContent = typeof value === "number" ? amount(value) : value;
    }
    details.append(region);
  }

  for (const details of document.querySelectorAll("details.measurement"))
    details.addEventListener("toggle", () => details.open && details.querySelectorAll(".chart").forEach(draw));
  for (const details of document.querySelectorAll("details.numbers"))
    details.addEventListener("toggle", () => details.open && fill(details));
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.matches("details")) target.open = true;
  }
  window.addEventListener("hashchange", reveal);
  dark.addEventListener("change", redraw);

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.card:not([open])")];
    for (const details of closed) details.open = true;
    document.documentElement.classList.add("printing");
    all().forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    for (const details of closed) details.open = false;
    redraw();
  });

  reveal();
  all().forEach(draw);
})();

// SPDX-License-Identifier: Apache-2.0
// The neighbourhood of each late job: who had the core, against the time since its release.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function draw(chart, element) {
    const series = (mine, name, fill) => {
      const bars = chart.bars.filter((bar) => bar.mine === mine);
      return {
        type: "bar", orientation: "h", name, showlegend: bars.length > 0,
        y: bars.map((bar) => bar.row), x: bars.map((bar) => bar.length),
        base: bars.map((bar) => bar.begin), text: bars.map((bar) => bar.text),
        textposition: "none", hovertemplate: "%{text}<br>%{base:.3f} ms, for %{x:.3f} ms<extra></extra>",
        marker: { color: fill, line: { color: colour("--card"), width: 0.5 } },
      };
    };
    const axis = { gridcolor: colour("--grid"), zeroline: false, automargin: true, tickfont: { color: colour("--quiet") } };
    Plotly.react(element, [series(true, "the late job", colour("--bad")), series(false, "others", colour("--c1"))], {
      barmode: "overlay", bargap: 0.35,
      height: 170 + 26 * chart.rows.length, margin: { l: 8, r: 14, t: 74, b: 64 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--ink") },
      xaxis: { ...axis, title: { text: "ms since its release" } },
      yaxis: { ...axis, categoryorder: "array", categoryarray: [...chart.rows].reverse() },
      legend: { orientation: "h", x: 0, y: 0, yanchor: "bottom", yref: "container" },
      shapes: chart.marks.map((mark) => ({
        type: "line", x0: mark.at, x1: mark.at, yref: "paper", y0: 0, y1: 1,
        line: { color: colour("--ink"), width: 1, dash: mark.text === "deadline" ? "solid" : "dot" },
      })),
      annotations: chart.marks.map((mark, place) => ({
        x: mark.at, yref: "paper", y: 1, yanchor: "bottom", text: mark.text, showarrow: false,
        yshift: 14 * place, font: { color: colour("--quiet") },
      })),
    }, { displayModeBar: false, responsive: true });
  }

  const all = () => charts.forEach((chart, number) => draw(chart, document.getElementById(`gantt-${number}`)));
  all();
  dark.addEventListener("change", all);
})();

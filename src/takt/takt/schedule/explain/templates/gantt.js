// SPDX-License-Identifier: Apache-2.0
// The neighbourhood of each late job: who had the core, against the time since its release.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const ms = (value) => `${value.toFixed(3)} ms`;

  function neighbourhood({ rows, bars, marks }) {
    const ends = [...bars.flatMap((bar) => [bar.begin, bar.begin + bar.length]), ...marks.map((mark) => mark.at)];
    const low = Math.min(...ends), high = Math.max(...ends), spare = 0.03 * (high - low || 1);
    return {
      headroom: marks.length,
      x: drawing.axis("ms since its release", low - spare, high + spare),
      y: drawing.rowAxis(rows),
      shapes: [
        ...bars.map((bar) => ({
          kind: "bar", look: bar.mine ? "late-job" : "c1", row: rows.indexOf(bar.row), begin: bar.begin, length: bar.length,
          tip: `${bar.text}: from ${ms(bar.begin)}, for ${ms(bar.length)}`,
        })),
        ...marks.map((mark, lift) => ({ kind: "rule", look: mark.text === "deadline" ? "deadline" : "between", x: mark.at, label: mark.text, lift })),
      ],
    };
  }

  drawing.show(Object.fromEntries(charts.map((chart, number) => [`gantt-${number}`, () => neighbourhood(chart)])));
})();

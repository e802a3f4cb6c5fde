// SPDX-License-Identifier: Apache-2.0
// The distribution of each chain's latency.
"use strict";
(() => {
  const { chains } = JSON.parse(document.getElementById("about").textContent);
  const { amount } = numbers;

  function distribution({ edges, counts, limit }) {
    const points = [[edges[0], 0]];
    counts.forEach((count, i) => points.push([edges[i], count], [edges[i + 1], count]));
    points.push([edges.at(-1), 0]);
    const low = Math.min(edges[0], limit ?? Infinity), high = Math.max(edges.at(-1), limit ?? 0), spare = 0.03 * (high - low || 1);
    return {
      headroom: limit ? 1 : 0,
      x: drawing.axis("ms", low - spare, high + spare),
      y: drawing.axis("messages", 0, Math.max(...counts) * 1.08),
      shapes: [
        { kind: "line", look: "c1", points, fill: 0.3, tips: counts.flatMap((count, i) => (count ? [[[(edges[i] + edges[i + 1]) / 2, count], `${amount(edges[i])} to ${amount(edges[i + 1])} ms: ${amount(count)}`]] : [])) },
        ...(limit ? [{ kind: "rule", look: "deadline", x: limit, label: "limit" }] : []),
      ],
    };
  }

  drawing.show(Object.fromEntries(chains.map((chain, i) => [`chain-${i}`, () => distribution(chain)])));
})();

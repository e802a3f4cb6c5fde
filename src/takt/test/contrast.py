# SPDX-License-Identifier: Apache-2.0
"""How well the text of a page in a browser stands out, as WCAG 2.1 computes it."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page

LEAST = 4.5  # of text, WCAG 2.1 AA
LEAST_OF_LINES = 3.0  # of what a picture needs to be understood

_MEASURE = """() => {
  const parts = (colour) => {
    const found = (colour.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return found.length < 4 ? [...found, 1] : found;
  };
  const over = (front, back) =>
    [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3]));
  const luminance = (colour) => colour.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const behind = (one) => {
    const above = [];
    for (; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      above.push(colour);
      if (colour[3] > 0.99) break;
    }
    return above.reverse().reduce((back, colour) => over(colour, back), [255, 255, 255]);
  };
  const shown = (one) => one.getClientRects().length > 0
    && one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const seeThrough = (one) => {
    let whole = 1;
    for (; one; one = one.parentElement) whole *= Number(getComputedStyle(one).opacity);
    return whole;
  };
  const name = (one) => `${one.tagName}.${one.getAttribute('class') || ''}`;
  const texts = [], lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || one.closest('script, style, noscript') || !shown(one))
      continue;
    const look = getComputedStyle(one), back = behind(one);
    const colour = parts(one.closest('svg') ? look.fill : look.color);
    colour[3] *= seeThrough(one) * (one.closest('svg') ? Number(look.fillOpacity) : 1);
    texts.push([ratio(over(colour, back), back), `${name(one)} "${one.textContent.trim()}"`]);
  }
  for (const one of document.querySelectorAll('.chart :is(.line, .ring, .cross, .rule, .slab)')) {
    if (!shown(one)) continue;
    const look = getComputedStyle(one), back = behind(one);
    const colour = parts(one.matches('.slab') ? look.fill : look.stroke);
    colour[3] *= seeThrough(one);
    lines.push([ratio(over(colour, back), back), name(one)]);
  }
  return [texts, lines];
}"""


@dataclass(frozen=True)
class Contrast:
    """Each with its ratio to what is behind it, the least first."""

    texts: list[tuple[float, str]]
    lines: list[tuple[float, str]]

    @property
    def failures(self) -> list[str]:
        """What stands out less than it must."""
        return sorted(
            {
                f"{name}: {ratio:.2f}"
                for found, least in ((self.texts, LEAST), (self.lines, LEAST_OF_LINES))
                for ratio, name in found
                if ratio < least
            }
        )


def contrast(page: Page) -> Contrast:
    """Measures all text that is shown, in pictures too, and their lines."""
    texts, lines = (sorted(map(tuple, found)) for found in page.evaluate(_MEASURE))
    return Contrast(texts, lines)

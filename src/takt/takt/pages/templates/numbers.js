// SPDX-License-Identifier: Apache-2.0
// The numbers of a picture as a table, for eyes and ears that have no use for a picture; made when it is asked for.
"use strict";
const numbers = (() => {
  const amount = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 }).replaceAll(",", "\u202f");

  function fill(details, [heads, rows]) {
    const picture = document.getElementById(details.dataset.for);
    const region = document.createElement("div");
    Object.assign(region, { className: "scroll", tabIndex: 0 });
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", "Numbers of the picture");
    const table = region.appendChild(document.createElement("table"));
    table.createCaption().textContent = picture.getAttribute("aria-label");
    const head = table.createTHead().insertRow();
    for (const text of heads) head.appendChild(Object.assign(document.createElement("th"), { textContent: text, scope: "col" }));
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const value of row) line.insertCell().textContent = typeof value === "number" ? amount(value) : value;
    }
    details.append(region);
  }

  // `tables` gives the headings and rows by the id of a picture.
  function offer(tables) {
    for (const details of document.querySelectorAll("details.numbers"))
      details.addEventListener("toggle", () => details.open && !details.querySelector("table") && fill(details, tables(details.dataset.for)));
  }

  return { amount, offer };
})();

// SPDX-License-Identifier: Apache-2.0
// Folded parts open for print and where a link points into them.
"use strict";
(() => {
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let one = target; one; one = one.parentElement) if (one.matches("details")) one.open = true;
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  window.addEventListener("DOMContentLoaded", reveal);

  let closed = [];
  const printing = (begins) => {
    if (begins) closed = [...document.querySelectorAll("details:not([open], .numbers)")];
    for (const fold of closed) fold.open = begins;
    document.documentElement.classList.toggle("printing", begins);
    document.dispatchEvent(new Event("takt:printing"));
  };
  window.addEventListener("beforeprint", () => printing(true));
  window.addEventListener("afterprint", () => printing(false));
})();

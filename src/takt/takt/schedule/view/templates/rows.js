// SPDX-License-Identifier: Apache-2.0
// The data of the timeline: unpacked columns, and rows that say what they have in a stretch of time without looking at
// each job: sums so far, and binary search, make a picture of a million jobs as fast as one of a thousand.
"use strict";
const rows = (() => {
  const types = { Float64Array, Float32Array, Uint32Array, Uint16Array, Uint8Array };

  async function unpack({ arrays }, text) {
    const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    return Object.fromEntries(Object.entries(arrays).map(([name, [type, at, count]]) => [name, new types[type](buffer, at, count)]));
  }

  // The first place in [from, to) whose value is not below; near places are found first.
  function atLeast(column, value, from, to) {
    let step = 1, low = from;
    while (low + step < to && column[low + step] < value) { low += step; step *= 2; }
    let high = Math.min(low + step, to);
    if (low < to && column[low] >= value) return low;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (column[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Of a row: `begin` and `length` by place, how much time and how many misses there are before each place.
  function columns(row, data) {
    const kind = row.kind === "job" ? "job" : row.kind === "program" ? "program" : "span";
    const begin = data[`${kind}Begin`].subarray(row.first, row.end);
    const length = data[`${kind}Length`].subarray(row.first, row.end);
    const flags = kind === "job" ? data.jobFlags.subarray(row.first, row.end) : null;
    const time = new Float64Array(begin.length + 1), misses = flags && new Uint32Array(begin.length + 1);
    // Jobs of one row may overlap: so far back reaches the longest one.
    let longest = 0;
    for (let i = 0; i < begin.length; i++) {
      time[i + 1] = time[i] + length[i];
      if (length[i] > longest) longest = length[i];
      if (misses) misses[i + 1] = misses[i] + (flags[i] & 1);
    }
    return { ...row, begin, length, flags, time, misses, longest };
  }

  // Calls `one(place, from, to)` for what is wider than a pixel, and `many(first, end, from)` for what shares one.
  function walk(row, from, to, pixel, one, many) {
    const { begin, length } = row, count = begin.length;
    let i = atLeast(begin, from - row.longest, 0, count);
    while (i < count && begin[i] < to) {
      if (begin[i] + length[i] < from) i++;
      else if (length[i] >= pixel) { one(i, begin[i], begin[i] + length[i]); i++; }
      else {
        const column = Math.floor((begin[i] - from) / pixel) * pixel + from;
        const end = Math.max(atLeast(begin, column + pixel, i, count), i + 1);
        let wide = i; // a wide one that begins in this pixel is drawn for itself
        while (wide < end && wide - i < 8 && length[wide] < pixel) wide++;
        const until = wide - i < 8 ? wide : end;
        many(i, until, column);
        i = until;
      }
    }
  }

  return { unpack, columns, walk, atLeast };
})();

// SPDX-License-Identifier: Apache-2.0
// Draws histograms behind each other: value, run, and count on a logarithmic axis. Drag or use the
// arrow keys to turn. A plain canvas: WebGL is missing on many of the machines that are measured.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const { amount } = numbers;
  const WIDTH = 1.15, DEPTH = 0.75, HEIGHT = 0.85; // half, half, whole: of a box around the origin
  const LINE = 16, NUMBER = 15; // px: height of a line, half of the width of a number
  const LOWEST = -1; // log10 of where nothing occurred

  function view(canvas) {
    const chart = charts[canvas.id];
    const runs = chart.series.length;
    const top = Math.ceil(Math.log10(Math.max(...chart.series.flatMap((one) => one.y))) + 0.05);
    const place = {
      x: (bin) => (2 * bin / chart.bins - 1) * WIDTH,
      y: (run) => (runs > 1 ? 2 * run / (runs - 1) - 1 : 0) * DEPTH,
      z: (power) => (power - LOWEST) / (top - LOWEST) * HEIGHT,
    };
    let turn = -0.5, tilt = 0.45;

    // Where a point of the box lies on the canvas; depth grows away from the eye.
    function projected(x, y, z) {
      const across = x * Math.cos(turn) - y * Math.sin(turn);
      const away = x * Math.sin(turn) + y * Math.cos(turn);
      const scale = Math.min(canvas.clientWidth / 3.1, canvas.clientHeight / (1.75 + 1.4 * Math.sin(tilt)));
      return [canvas.clientWidth / 2 + scale * across,
        canvas.clientHeight * 0.56 - scale * (away * Math.sin(tilt) + (z - HEIGHT / 2) * Math.cos(tilt)), away];
    }

    function draw() {
      const sharp = window.devicePixelRatio || 1;
      canvas.width = canvas.clientWidth * sharp;
      canvas.height = canvas.clientHeight * sharp;
      const pen = canvas.getContext("2d");
      pen.scale(sharp, sharp);
      pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      const line = (from, to, ink) => {
        pen.strokeStyle = ink;
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(...projected(...from).slice(0, 2));
        pen.lineTo(...projected(...to).slice(0, 2));
        pen.stroke();
      };
      // All of it within the canvas; ``below``: so many pixels.
      const say = (words, x, y, z, align, below = 0) => {
        pen.fillStyle = colour("--quiet");
        pen.textAlign = align;
        const [at, height] = projected(x, y, z);
        const before = { left: 0, center: 0.5, right: 1 }[align] * pen.measureText(words).width;
        const after = pen.measureText(words).width - before;
        pen.fillText(words, Math.max(before, Math.min(canvas.clientWidth - after, at)), height + below);
      };
      const front = projected(0, -DEPTH, 0)[2] < projected(0, DEPTH, 0)[2] ? -1 : 1; // the side of y that is near
      const near = front * DEPTH, far = -near;
      const left = projected(-WIDTH, 0, 0)[0] < projected(WIDTH, 0, 0)[0] ? -WIDTH : WIDTH;
      for (const tick of chart.ticks) {
        const x = place.x(tick.bin);
        line([x, near, 0], [x, far, 0], colour("--grid"));
        say(tick.label, x, near + front * 0.13, 0, "center");
      }
      for (let power = LOWEST; power <= top; power++) {
        const z = place.z(power);
        line([-WIDTH, far, z], [WIDTH, far, z], colour("--grid"));
        say(amount(10 ** power), left * 1.04, far, z, "right");
      }
      // Below the numbers, also where they go down along half of the words.
      const [[x0, y0], [x1, y1]] = [projected(-WIDTH, near, 0), projected(WIDTH, near, 0)];
      const slope = Math.abs(y1 - y0) / Math.max(1, Math.abs(x1 - x0));
      const half = pen.measureText(chart.axis).width / 2 + NUMBER;
      say(chart.axis, 0, near + front * 0.13, 0, "center", LINE + Math.min(slope * half, 3 * LINE));
      say("how often", left * 1.04, far, HEIGHT, "right", -LINE);
      const order = [...Array(runs).keys()].sort((a, b) => projected(0, place.y(b), 0)[2] - projected(0, place.y(a), 0)[2]);
      for (const run of order) outline(pen, run);
      const named = [0, runs - 1].filter((run, i, all) => all.indexOf(run) === i);
      for (const run of named) say(chart.series[run].name, -left * 1.04, place.y(run), 0, left === -WIDTH ? "left" : "right");
    }

    function outline(pen, run) {
      const one = chart.series[run], y = place.y(run), hex = colour("--c" + (run % 8));
      const to = (bin, power) => pen.lineTo(...projected(place.x(bin), y, place.z(power)).slice(0, 2));
      pen.beginPath();
      pen.moveTo(...projected(place.x(0), y, 0).slice(0, 2));
      one.bins.forEach((bin, i) => {
        if (one.bins[i - 1] !== bin - 1) to(bin, LOWEST);
        to(bin, Math.log10(one.y[i]));
        to(bin + 1, Math.log10(one.y[i]));
        if (one.bins[i + 1] !== bin + 1) to(bin + 1, LOWEST);
      });
      to(chart.bins, LOWEST);
      pen.strokeStyle = hex;
      pen.lineWidth = 1;
      pen.stroke();
      pen.fillStyle = hex + "a6";
      pen.fill();
      canvas.dataset.drawn = "yes";
    }

    const turned = (across, up) => {
      turn = Math.max(-1.45, Math.min(1.45, turn + across));
      tilt = Math.max(0.05, Math.min(1.45, tilt + up));
      canvas.dataset.turn = turn.toFixed(3);
      draw();
    };
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) turned(event.movementX / 200, event.movementY / 200);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (step) {
        event.preventDefault();
        turned(...step);
      }
    });
    return draw;
  }

  const views = new Map([...document.querySelectorAll("canvas.runs")].map((canvas) => [canvas, view(canvas)]));
  const redraw = () => views.forEach((draw, canvas) => canvas.offsetParent && draw());
  for (const details of document.querySelectorAll("details.measurement")) details.addEventListener("toggle", redraw);
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  document.addEventListener("takt:printing", redraw);

  numbers.offer((id) => [["run", "from (µs)", "samples"], charts[id].series.flatMap((one) => one.x.map((value, i) => [one.name, value, one.y[i]]))]);
  redraw();
})();

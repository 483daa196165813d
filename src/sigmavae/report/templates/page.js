"use strict";

// Tables: a click on a heading sorts by it, a second click the other way round; missing values stay last.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const order = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", {numeric: true}) : a - b);
  headings.forEach((heading, column) => heading.querySelector("button").addEventListener("click", () => {
    const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    headings.forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const value = (row) => row.cells[column].dataset.value;
    const rows = [...body.rows].sort((a, b) =>
      (value(a) === "") - (value(b) === "") || sign * order(value(a), value(b)));
    body.append(...rows);
  }));
}

// Charts: the values at the step nearest to the pointer.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);

const nearest = (points, step) =>
  points.reduce((best, point) => (Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best));

for (const chart of document.querySelectorAll("svg.chart[data-last]")) {
  // The browser would show the title as a tooltip of its own, over ours.
  chart.setAttribute("aria-label", chart.querySelector("title").textContent);
  chart.querySelector("title").remove();
  const cursor = chart.querySelector(".cursor");
  const [left, right, last] = ["left", "right", "last"].map((key) => Number(chart.dataset[key]));
  const curves = [...chart.querySelectorAll("[data-points]")].map((path) => ({
    label: path.dataset.label, points: JSON.parse(path.dataset.points),
  }));
  const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };

  chart.addEventListener("pointerleave", hide);
  for (const kind of ["pointermove", "pointerdown"]) chart.addEventListener(kind, (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    const step = (place.x - left) / (right - left) * last;
    if (step < 0 || step > last) { hide(); return; }
    const hits = curves.map((curve) => ({label: curve.label, point: nearest(curve.points, step)}));
    const shown = hits.reduce((a, b) => (Math.abs(a.point[0] - step) <= Math.abs(b.point[0] - step) ? a : b)).point[0];
    const x = left + shown / last * (right - left);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.setAttribute("visibility", "visible");
    tip.textContent = [`step ${shown}`, ...hits.map((hit) => `${hit.label}  ${hit.point[1]}`)].join("\n");
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, room))}px`;
    tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 12)}px`;
  });
}

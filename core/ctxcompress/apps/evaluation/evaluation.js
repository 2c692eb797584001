"use strict";
const slider = document.getElementById("stop");
const parts = [...document.querySelectorAll("[data-stop]")];
const stops = parts.filter(part => part.dataset.place);

function show() {
  const chosen = stops[slider.value];
  for (const part of parts) part.classList.toggle("shown", part.dataset.stop === slider.value);
  slider.setAttribute("aria-valuetext", chosen.dataset.name);
  document.getElementById("said").textContent = chosen.dataset.said;
  for (const end of ["x1", "x2"]) document.getElementById("mark")?.setAttribute(end, chosen.dataset.place);
}

function nearest(event) {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  const away = stop => Math.abs(parseFloat(stop.dataset.place) - 100 * (event.clientX - left) / width);
  slider.value = stops.indexOf(stops.reduce((best, stop) => (away(stop) < away(best) ? stop : best)));
  show();
}

document.documentElement.classList.add("scripted");
slider.addEventListener("input", show);
document.getElementById("plot")?.addEventListener("click", nearest);
show();

"use strict";
// Asks the server of this page for a compression whenever a setting changes, and shows the answer to the last request.

const LEAST = 50, MOST = 20000; // tokens at the ends of the slider
const PAUSE = 150; // milliseconds without a change before the server is asked

const find = (id) => document.getElementById(id);
const slider = find("slider"), budget = find("max_tokens");

let timer = 0;
let request = null; // the AbortController of the request under way
let answer = { text: "", exports: {} }; // the last answer

/** The budget at a place of the slider, which is logarithmic, with two significant digits. */
function tokensAt(place) {
  const exact = LEAST * (MOST / LEAST) ** (place / slider.max);
  return Number(exact.toPrecision(2));
}

function placeOf(tokens) {
  return (slider.max * Math.log(Math.max(tokens, LEAST) / LEAST)) / Math.log(MOST / LEAST);
}

function showBudget() {
  slider.value = placeOf(Number(budget.value));
  slider.setAttribute("aria-valuetext", `${budget.value} tokens`);
}

function settings() {
  return {
    query: find("query").value,
    max_tokens: Number(budget.value),
    preset: find("preset").value || null,
    encoder: find("encoder").value,
    format: find("format").value,
    adaptive: find("adaptive").checked,
  };
}

function askSoon() {
  clearTimeout(timer);
  if (budget.value) timer = setTimeout(ask, PAUSE); // an empty field is about to be filled
}

/** Ask the server; a request that is still under way is dropped. */
async function ask() {
  clearTimeout(timer);
  request?.abort();
  const own = (request = new AbortController());
  document.body.setAttribute("aria-busy", "true");
  try {
    const response = await fetch("/compress", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(settings()),
      signal: own.signal,
    });
    const found = await response.json();
    if (own !== request) return;
    find("problem").textContent = found.error ?? "";
    if (response.ok) show(found);
  } catch (error) {
    if (own !== request) return;
    find("problem").textContent = "No answer came. Does the command still run, and what does it say?";
  }
  document.body.setAttribute("aria-busy", "false");
}

/** Show an answer. Its fragments are markup that the server has escaped; the choice of passages stays as it is. */
function show(found) {
  answer = found;
  const chosen = [...document.querySelectorAll("#passages :checked")].map(({ id }) => id);
  for (const name of ["numbers", "text", "passages"]) find(name).innerHTML = found.html[name];
  for (const id of chosen) if (find(id)) find(id).checked = true;
  find("note").textContent = found.note;
  showExport();
}

function showExport() {
  const chosen = document.querySelector("[name=export]:checked").value;
  find("export").textContent = answer.exports[chosen] ?? "";
}

/** Copy a text, and say so on the button for a moment. */
async function copy(button, text) {
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = "Not allowed"; // by the browser's settings
  }
  button.textContent = find("copied").textContent = said;
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

slider.addEventListener("input", () => {
  budget.value = tokensAt(Number(slider.value));
  showBudget();
});
budget.addEventListener("input", showBudget);
find("settings").addEventListener("input", askSoon);
find("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
for (const tab of document.querySelectorAll("[name=export]")) tab.addEventListener("change", showExport);
find("copy-text").addEventListener("click", (event) => copy(event.target, answer.text));
find("copy-export").addEventListener("click", (event) => copy(event.target, find("export").textContent));

showBudget();
ask();

// Form of a job: files dropped anywhere, checks of numbers, and sending with progress.
"use strict";

const form = document.getElementById("job");
const errors = document.getElementById("errors");
const sources = [...form.querySelectorAll("fieldset.source")];

/** Show an error next to its field, or above the form if it has no field. */
function showError(sentence, name) {
  const base = name.replace(/^(inputs|options)\./, "").replace(/[.[].*/, "");
  const place = document.getElementById(`${base}-error`) || document.getElementById(`opt.${base}-error`);
  const field = document.getElementById(`${base}.text`) || document.getElementById(`opt.${base}`);
  errors.textContent = sentence;
  errors.hidden = false;
  if (place === null || field === null) {
    errors.focus();
    return;
  }
  place.textContent = sentence;
  field.setAttribute("aria-invalid", "true");
  field.closest("details")?.setAttribute("open", "");
  field.focus();
}

function clearErrors() {
  errors.hidden = true;
  for (const place of form.querySelectorAll(".error")) place.textContent = "";
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

/** Return the input for a dropped file: the one under the pointer, else the first empty one, else the first. */
function sourceFor(target) {
  const under = target instanceof Element ? target.closest("fieldset.source") : null;
  return under || sources.find(source => !isGiven(source)) || sources[0];
}

function isGiven(source) {
  const chosen = source.querySelector("select");
  return source.querySelector("textarea").value.trim() !== "" ||
    source.querySelector("input[type=file]").files.length > 0 || (chosen !== null && chosen.value !== "") ||
    source.querySelector("input[type=checkbox]:checked") !== null;
}

function setUpDropping() {
  for (const label of form.querySelectorAll(".drop > label")) label.append(", or drop here");
  const mark = on => form.classList.toggle("over", on);
  const holdsFiles = event => event.dataTransfer !== null && [...event.dataTransfer.types].includes("Files");
  addEventListener("dragover", event => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", event => {
    if (event.relatedTarget === null) mark(false);
  });
  addEventListener("drop", event => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(false);
    const source = sourceFor(event.target);
    const input = source.querySelector("input[type=file]");
    const files = new DataTransfer();
    for (const file of input.multiple ? event.dataTransfer.files : [...event.dataTransfer.files].slice(0, 1)) {
      files.items.add(file);
    }
    input.files = files.files;
    clearErrors();
    say(`Dropped ${[...files.files].map(file => file.name).join(", ")}`);
    input.focus();
  });
}

function setUpChecking() {
  for (const field of form.querySelectorAll("input[inputmode]")) {
    field.addEventListener("change", () => {
      const isWhole = field.inputMode === "numeric";
      const text = field.value.trim();
      const isGood = text === "" || (isWhole ? /^[+-]?\d+$/.test(text) : Number.isFinite(Number(text)));
      document.getElementById(`${field.id}-error`).textContent =
        isGood ? "" : `${text} is not a ${isWhole ? "whole number" : "number"}`;
      field.toggleAttribute("aria-invalid", false);
      if (!isGood) field.setAttribute("aria-invalid", "true");
    });
  }
}

/** Parse the server's response: JSON from the form's address, or a page if the request failed before that. */
function answerOf(request) {
  try {
    const {url, error, field} = JSON.parse(request.responseText);
    return {url, error: String(error), field: String(field || "")};
  } catch {
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const words = page.querySelector("[role=alert]")?.textContent;
    return {url: null, error: words || `The server replied ${request.status}: try again`, field: ""};
  }
}

/** Send the form as a browser would, with a progress bar. */
function setUpSending() {
  const buttons = form.querySelectorAll("button.first");
  const sending = document.getElementById("sending");
  const bar = document.getElementById("sent");
  const isBusy = on => {
    for (const button of buttons) button.disabled = on;
    sending.hidden = !on;
  };
  const fail = (sentence, name) => {
    isBusy(false);
    showError(sentence, name);
  };
  form.addEventListener("submit", event => {
    event.preventDefault();
    clearErrors();
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", step => {
      if (step.lengthComputable) bar.value = 100 * step.loaded / step.total;
    });
    request.addEventListener("load", () => {
      const reply = answerOf(request);
      if (request.status < 300 && reply.url) location.assign(reply.url);
      else fail(reply.error, reply.field);
    });
    request.addEventListener("error", () => fail("The server is unavailable or closed the connection: try again", ""));
    bar.value = 0;
    isBusy(true);
    request.send(new FormData(form));
  });
  addEventListener("pageshow", () => isBusy(false));
}

/** Ctrl-Enter (or Command-Enter) sends from any field. */
function setUpKeys() {
  document.getElementById("hint").hidden = false;
  form.addEventListener("keydown", event => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
    event.preventDefault();
    const button = document.getElementById("send");
    if (!button.disabled) form.requestSubmit(button);
  });
}

setUpDropping();
setUpChecking();
setUpKeys();
setUpSending();

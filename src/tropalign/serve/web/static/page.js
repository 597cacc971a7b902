// Functions of every page: light or dark theme, copy buttons, lists that refresh, and a watched job.
"use strict";

const said = document.getElementById("said");

/** Announce text to screen readers. */
function say(words) {
  said.textContent = words;
}

/** Set up the switch of light and dark, stored in a cookie so that pages start with the right colours. */
function setUpTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.classList.contains("dark") || (!root.classList.contains("light") && system.matches);
  const frame = document.querySelector("iframe.report");
  const isChosen = () => root.classList.contains("dark") || root.classList.contains("light");
  const tell = () => isChosen() && frame?.contentWindow.postMessage({isDark: isDark()}, "*");
  const show = () => {
    button.setAttribute("aria-pressed", isDark());
    tell();
  };
  frame?.addEventListener("load", tell);
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    root.classList.remove("light", "dark");
    root.classList.add(theme);
    document.cookie = `theme=${theme};path=/;max-age=31536000;samesite=lax`;
    show();
  });
  system.addEventListener("change", show);
  show();
}

/** Set up copy buttons; without the clipboard (not available over plain HTTP), the text is selected for Ctrl-C. */
function setUpCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
        say("Copied");
        setTimeout(() => button.textContent = "Copy", 2000);
      } catch {
        getSelection().selectAllChildren(button.previousElementSibling);
        say("Selected: copy with Ctrl-C");
      }
    });
  }
}

/** Show on the page, and announce, that the server is unavailable or has returned. */
function setUpAway() {
  const line = document.createElement("p");
  line.id = "away";
  line.className = "notice bad";
  line.textContent = "The server does not answer. This page tries again automatically: you need not reload it.";
  let isAway = false;
  return now => {
    if (now === isAway) return;
    isAway = now;
    if (now) document.getElementById("main").prepend(line);
    else line.remove();
    say(now ? line.textContent : "The server answers again");
  };
}

/** Replace a part of the page, keeping checks and focus; false if the focused element would disappear. */
function takeOver(old, next) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  if (focused !== null && next.querySelector(`[id="${focused.id}"]`) === null) return false;
  for (const box of old.querySelectorAll("input:checked")) {
    next.querySelector(`[id="${box.id}"]`)?.setAttribute("checked", "");
  }
  old.replaceWith(next);
  if (focused !== null) document.getElementById(focused.id).focus();
  return true;
}

/** Show times of the last week in lists as relative times, with the exact time in the tooltip. */
function tellTimes() {
  const words = new Intl.RelativeTimeFormat("en", {numeric: "auto"});
  for (const place of document.querySelectorAll(".when time")) {
    const seconds = (Date.now() - new Date(place.dateTime)) / 1000;
    place.title ||= `${place.textContent} UTC`;
    if (seconds < 60) place.textContent = "just now";
    else if (seconds < 3600) place.textContent = words.format(-Math.floor(seconds / 60), "minute");
    else if (seconds < 86400) place.textContent = words.format(-Math.floor(seconds / 3600), "hour");
    else if (seconds < 7 * 86400) place.textContent = words.format(-Math.floor(seconds / 86400), "day");
    else place.textContent = place.title.replace(" UTC", "");
  }
}

/** Set up the button that selects all jobs of a list, or deselects them if all are selected. */
function setUpTicking() {
  const button = document.getElementById("all");
  if (button === null) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const boxes = [...document.querySelectorAll("#jobs input[type=checkbox]")];
    const isAll = boxes.every(box => box.checked);
    for (const box of boxes) box.checked = !isAll;
    say(isAll ? "No job is selected" : `${boxes.length} jobs are selected`);
  });
}

/** Refetch the page every few seconds and replace the part with this id, while the part requests it. */
function setUpPolling() {
  const part = document.querySelector("[data-poll]");
  if (part === null) return;
  const seconds = Number(part.dataset.poll);
  let sent = part.innerHTML;  // as sent by the server, before times were changed
  const again = () => setTimeout(fresh, seconds * 1000);
  async function fresh() {
    if (document.hidden) return again();
    const old = document.getElementById(part.id);
    try {
      const reply = await fetch(location.href, {headers: {"X-Part": part.id}});
      if (reply.status === 429) return again();
      showAway(reply.status >= 500);
      if (reply.status >= 500) return again();
      if (!reply.ok || reply.redirected) return;
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const next = page.getElementById(part.id);
      if (next === null) return;
      if (next.innerHTML !== sent && takeOver(old, next)) sent = next.innerHTML;
      tellTimes();
      if (next.dataset.poll) again();
    } catch {  // the server is unavailable, perhaps briefly
      showAway(true);
      again();
    }
  }
  again();
}

/** Show a job's progress by server-sent events; at its end, reload the page with the result. */
function setUpWatching() {
  const card = document.querySelector("[data-events]");
  if (card === null) return;
  const bar = document.getElementById("progress");
  const stage = document.getElementById("stage");
  let shownWords = stage.textContent;
  let saidAt = -Infinity;
  let saidState = "";
  let waits = 0;
  const events = new EventSource(card.dataset.events);
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", event => event.persisted && location.reload());  // by the Back button
  events.addEventListener("open", () => {
    clearTimeout(waits);
    waits = 0;
    showAway(false);
  });
  events.addEventListener("error", () => {  // a stream may also end normally, and reconnects in seconds
    if (events.readyState === EventSource.CLOSED) setTimeout(reloadOnceThere, 5000);
    else if (!waits) waits = setTimeout(() => showAway(true), 4000);
  });
  events.addEventListener("gone", () => {
    events.close();
    location.reload();
  });
  events.addEventListener("job", event => {
    const job = JSON.parse(event.data);
    if (!["queued", "running"].includes(job.state)) {
      events.close();
      location.reload();
      return;
    }
    if (job.progress === null) bar.removeAttribute("value");
    else bar.value = Math.floor(100 * job.progress);
    const words = doing(job);
    if (words !== shownWords) stage.textContent = shownWords = words;
    if (job.state !== saidState || performance.now() - saidAt > 20000) {  // do not flood screen readers
      say(`${job.state}: ${words}`);
      saidState = job.state;
      saidAt = performance.now();
    }
    const state = document.querySelector(".lead .state");
    state.className = `state ${job.state}`;
    const share = job.progress === null ? "" : ` ${Math.floor(100 * job.progress)} %`;
    state.textContent = job.state + (job.state === "running" ? share : "");
  });
}

/** Reload the page once the server responds: the browser's own error page would not retry. */
async function reloadOnceThere() {
  try {
    if ((await fetch(location.href)).status < 500) return location.reload();
  } catch {
    // unavailable
  }
  showAway(true);
  setTimeout(reloadOnceThere, 5000);
}

/** Return the same text as the server's `doing` in views.py. */
function doing(job) {
  if (job.state === "running") return job.stage || "computing";
  return job.waiting || "waiting";
}

const showAway = setUpAway();
setUpTheme();
setUpCopying();
setUpPolling();
tellTimes();
setInterval(tellTimes, 30000);
setUpTicking();
setUpWatching();

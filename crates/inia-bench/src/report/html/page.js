"use strict";
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const keys = [...document.querySelectorAll("[data-key]")];

  // Theme: what the system has, light, dark. A file may not be allowed to remember it.
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const recall = () => { try { return localStorage.getItem("inia-theme"); } catch { return null; } };
  const setTheme = (theme) => {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
    try { localStorage.setItem("inia-theme", theme); } catch { /* It is forgotten. */ }
  };
  button.hidden = false;
  setTheme(themes.includes(recall()) ? recall() : "system");
  button.addEventListener("click", () => {
    const now = root.dataset.theme || "system";
    setTheme(themes[(themes.indexOf(now) + 1) % themes.length]);
  });

  // The legend hides and shows a target in all charts.
  const shown = (series) => series < 0 || keys[series].getAttribute("aria-pressed") === "true";
  for (const key of keys) {
    key.addEventListener("click", () => {
      const on = key.getAttribute("aria-pressed") !== "true";
      key.setAttribute("aria-pressed", on);
      for (const part of document.querySelectorAll(`[data-s="${key.dataset.key}"]`)) {
        part.toggleAttribute("data-off", !on);
      }
    });
  }

  // Values where somebody points, taps, or walks with the arrow keys.
  let current = null;
  const leave = () => {
    tip.hidden = true;
    if (current) current.querySelector(".cross").setAttribute("visibility", "hidden");
    current = null;
  };
  const line = (series, text) => {
    const row = document.createElement("div");
    if (series >= 0) {
      const name = document.createElement("span");
      name.append(keys[series].querySelector("svg").cloneNode(true), keys[series].dataset.name);
      row.append(name);
    }
    const value = document.createElement("span");
    value.textContent = text;
    row.append(value);
    return row;
  };
  const show = (svg, stops, at) => {
    if (current && current !== svg) leave();
    current = svg;
    svg.dataset.at = at;
    const stop = stops[at];
    const cross = svg.querySelector(".cross");
    cross.setAttribute("x1", stop.x);
    cross.setAttribute("x2", stop.x);
    cross.setAttribute("visibility", "visible");
    const head = document.createElement("b");
    head.textContent = stop.h;
    tip.replaceChildren(head, ...stop.r.filter(([s]) => shown(s)).map(([s, text]) => line(s, text)));
    tip.hidden = false;
    const box = svg.getBoundingClientRect();
    const x = box.left + stop.x / svg.viewBox.baseVal.width * box.width;
    const wide = tip.offsetWidth, high = tip.offsetHeight, room = root.clientWidth;
    const left = x + 14 + wide <= room - 8 ? x + 14 : x - 14 - wide;
    tip.style.left = Math.max(8, Math.min(left, room - wide - 8)) + "px";
    tip.style.top = Math.max(8, Math.min(box.top + 8, innerHeight - high - 8)) + "px";
  };
  for (const svg of document.querySelectorAll("svg[data-stops]")) {
    const stops = JSON.parse(svg.dataset.stops);
    if (stops.length === 0) continue;
    const point = (event) => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      let best = 0;
      stops.forEach((stop, i) => {
        if (Math.abs(stop.x - x) < Math.abs(stops[best].x - x)) best = i;
      });
      show(svg, stops, best);
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
    svg.addEventListener("blur", leave);
    svg.addEventListener("keydown", (event) => {
      const at = current === svg ? Number(svg.dataset.at) : -1;
      const last = stops.length - 1;
      const to = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
      if (event.key === "Escape") leave();
      if (to === undefined) return;
      event.preventDefault();
      show(svg, stops, to);
    });
  }
  addEventListener("scroll", leave, { passive: true });
})();

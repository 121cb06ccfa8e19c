// The trajectory explorer: a map of the kept states, one chain's path, its text at a step. No network, no library.
"use strict";
(() => {
  const root = document.getElementById("explorer");
  if (!root) return;
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const find = (name) => root.querySelector(`[data-part="${name}"]`);
  const map = find("map"), text = find("text"), where = find("where"), tip = find("tip");
  const chainBox = find("chain"), slider = find("time"), colourBox = find("colour"), play = find("play"), legend = find("legend");
  const SVG = "http://www.w3.org/2000/svg", WIDTH = 560, HEIGHT = 420, EDGE = 18;
  const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7a7a7a", "#8c6d1f"];
  const state = { chain: 0, time: 0 };
  let timer = null;

  const make = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  const all = (key) => data.chains.flatMap((chain) => chain[key]);
  const scale = (values, size) => {
    const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
    return (v) => EDGE + ((v - low) / span) * (size - 2 * EDGE);
  };
  const across = scale(all("x"), WIDTH), up = scale(all("y"), HEIGHT);
  const place = (chain, k) => [across(chain.x[k]), HEIGHT - up(chain.y[k])];

  // What a point is coloured by, and its name in the legend.
  const keys = {
    temperature: (chain) => `τ = ${chain.temperature}`,
    start: (chain) => chain.from || `chain ${chain.chain}`,
    basin: (chain, k) => (chain.basin && chain.basin[k] !== null ? `τ = ${chain.temperature}, basin ${chain.basin[k] + 1}` : "no basin"),
    time: (chain, k) => { const share = chain.steps[k] / Math.max(data.steps, 1); return share < 0.1 ? "first tenth" : share < 0.5 ? "until half" : "second half"; },
  };
  const points = [];
  const path = make("polyline", { fill: "none", stroke: "currentColor", "stroke-width": 1.2, opacity: 0.55 }, map);
  const dots = make("g", {}, map);
  const ring = make("circle", { r: 8, fill: "none", stroke: "currentColor", "stroke-width": 2.5 }, map);
  data.chains.forEach((chain, c) => chain.steps.forEach((_, k) => {
    const [cx, cy] = place(chain, k);
    const dot = make("circle", { cx, cy, r: 3.2 }, dots);
    dot.dataset.chain = c;
    dot.dataset.time = k;
    points.push(dot);
  }));

  const paint = () => {
    const key = keys[colourBox.value], names = new Map();
    points.forEach((dot) => {
      const name = key(data.chains[dot.dataset.chain], dot.dataset.time);
      if (!names.has(name)) names.set(name, COLOURS[names.size % COLOURS.length]);
      dot.setAttribute("fill", names.get(name));
    });
    legend.replaceChildren(...[...names].map(([name, colour]) => {
      const item = document.createElement("li"), patch = document.createElement("span");
      patch.className = "patch";
      patch.style.background = colour;
      item.append(patch, document.createTextNode(name));
      return item;
    }));
  };

  // Words where there are spaces, letters where there are none (proteins, reactions).
  const units = (line) => (/\s/.test(line) ? line.split(/\s+/) : [...line]);
  const kept = (before, after) => {
    if (before.length === after.length) return after.map((unit, k) => unit === before[k]);
    const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
    for (let i = before.length - 1; i >= 0; i--)
      for (let j = after.length - 1; j >= 0; j--)
        table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    const same = after.map(() => false);
    for (let i = 0, j = 0; i < before.length && j < after.length;) {
      if (before[i] === after[j]) { same[j] = true; i++; j++; }
      else if (table[i + 1][j] >= table[i][j + 1]) i++;
      else j++;
    }
    return same;
  };
  const line = (chain, k) => data.texts[chain.text[k]];
  const write = (chain, k) => {
    const now = units(line(chain, k)), gap = /\s/.test(line(chain, k)) ? " " : "";
    const same = k > 0 ? kept(units(line(chain, k - 1)), now) : now.map(() => true);
    const parts = now.flatMap((unit, i) => {
      const piece = same[i] ? document.createTextNode(unit) : document.createElement("mark");
      if (!same[i]) piece.textContent = unit;
      return [piece, document.createTextNode(gap)];
    });
    text.replaceChildren(...parts);
  };

  const show = (c, k) => {
    const chain = data.chains[c];
    state.chain = c;
    state.time = Math.max(0, Math.min(k, chain.steps.length - 1));
    chainBox.value = String(c);
    slider.max = String(chain.steps.length - 1);
    slider.value = String(state.time);
    const step = chain.steps[state.time], sweeps = step / chain.sites;
    const told = `step ${step.toLocaleString("en")} (${sweeps.toPrecision(3)} sweeps)`;
    slider.setAttribute("aria-valuetext", told);
    where.textContent = `τ = ${chain.temperature}, chain ${chain.chain}${chain.from ? `, from ${chain.from}` : ""}: ${told}`;
    path.setAttribute("points", chain.steps.slice(0, state.time + 1).map((_, i) => place(chain, i).map((v) => v.toFixed(1)).join(",")).join(" "));
    const [cx, cy] = place(chain, state.time);
    ring.setAttribute("cx", cx);
    ring.setAttribute("cy", cy);
    write(chain, state.time);
  };
  const nearest = (chain, step) => chain.steps.reduce((best, s, k) => (Math.abs(s - step) < Math.abs(chain.steps[best] - step) ? k : best), 0);

  data.chains.forEach((chain, c) => chainBox.add(new Option(`τ = ${chain.temperature}, chain ${chain.chain}${chain.from ? `, from ${chain.from}` : ""}`, c)));
  for (const option of [...colourBox.options]) if (option.value === "basin" && !data.chains.some((chain) => chain.basin)) option.remove();
  chainBox.addEventListener("change", () => show(Number(chainBox.value), state.time));
  slider.addEventListener("input", () => show(state.chain, Number(slider.value)));
  colourBox.addEventListener("change", paint);
  dots.addEventListener("click", (event) => {
    const dot = event.target;
    if (dot.dataset.chain !== undefined) show(Number(dot.dataset.chain), Number(dot.dataset.time));
  });
  dots.addEventListener("pointerover", (event) => {
    const dot = event.target;
    if (dot.dataset.chain === undefined) return;
    const chain = data.chains[dot.dataset.chain], k = Number(dot.dataset.time);
    tip.textContent = `τ = ${chain.temperature}, chain ${chain.chain}, step ${chain.steps[k].toLocaleString("en")}: ${line(chain, k).slice(0, 240)}`;
    tip.hidden = false;
  });
  dots.addEventListener("pointerout", () => { tip.hidden = true; });
  map.addEventListener("keydown", (event) => {
    const chains = data.chains.length;
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -1e9], End: [0, 1e9] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    show((state.chain + move[0] + chains) % chains, state.time + move[1]);
  });
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (state.time >= data.chains[state.chain].steps.length - 1) show(state.chain, 0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (state.time >= data.chains[state.chain].steps.length - 1) stop();
      else show(state.chain, state.time + 1);
    }, 400);
  });
  document.querySelectorAll("button[data-chain]").forEach((button) => {
    const c = data.chains.findIndex((chain) => String(chain.chain) === button.dataset.chain);
    if (c < 0) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      stop();
      show(c, nearest(data.chains[c], Number(button.dataset.step)));
      root.scrollIntoView({ block: "start" });
      slider.focus();
    });
  });
  root.classList.add("ready");
  paint();
  show(0, 0);
})();

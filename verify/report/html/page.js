"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const cards = all(".card");

  // Filters: by verdict (several), claim, pass and text.
  const text = one("#text"), claim = one("#claim"), group = one("#group"), count = one("#count");
  const tiles = all("button.tile");
  const filter = () => {
    const verdicts = new Set(tiles.filter((t) => t.getAttribute("aria-pressed") === "true").map((t) => t.dataset.filter));
    const words = text ? text.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
    let shown = 0;
    for (const card of cards) {
      const said = card.textContent.toLowerCase();
      card.hidden = (verdicts.size > 0 && !verdicts.has(card.dataset.verdict))
        || (claim && claim.value && card.dataset.claim !== claim.value)
        || (group && group.value && card.dataset.group !== group.value)
        || !words.every((w) => said.includes(w));
      shown += card.hidden ? 0 : 1;
    }
    if (count) count.textContent = `${shown} of ${cards.length} shown`;
  };
  tiles.forEach((t) => t.addEventListener("click", () => {
    t.setAttribute("aria-pressed", String(t.getAttribute("aria-pressed") !== "true"));
    filter();
  }));
  [text, claim, group].forEach((field) => field && field.addEventListener("input", filter));
  const form = one(".filters");
  if (form) form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  // Zoom: a picture keeps its own scale.
  const zoom = (frame, factor) => {
    const svg = frame.querySelector("svg");
    if (!svg) return;
    if (!svg.dataset.width) {
      const box = svg.getBoundingClientRect();
      svg.dataset.width = String(box.width);
      svg.dataset.height = String(box.height);
      if (!svg.getAttribute("viewBox")) svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    }
    const scale = Math.min(8, Math.max(0.125, Number(svg.dataset.scale || 1) * factor));
    svg.dataset.scale = String(scale);
    svg.setAttribute("width", String(Number(svg.dataset.width) * scale));
    svg.setAttribute("height", String(Number(svg.dataset.height) * scale));
  };

  // Keys. In a field only Escape is ours.
  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      tiles.forEach((t) => t.setAttribute("aria-pressed", "false"));
      [text, claim, group].forEach((field) => { if (field) field.value = ""; });
      filter();
      if (at) at.blur();
      return;
    }
    if (at && ["INPUT", "SELECT", "TEXTAREA"].includes(at.tagName)) return;
    const frame = at && at.closest ? at.closest(".zoom, .frame") || (at.closest(".card") || document).querySelector(".zoom, .frame") : null;
    if ((event.key === "+" || event.key === "-") && frame) {
      zoom(frame, event.key === "+" ? 1.25 : 0.8);
    } else if (event.key === "/" && text) {
      text.focus();
    } else if (event.key === "j" || event.key === "k") {
      const visible = cards.filter((c) => !c.hidden);
      const here = visible.indexOf(at && at.closest ? at.closest(".card") : null);
      const next = visible[Math.max(0, Math.min(visible.length - 1, here + (event.key === "j" ? 1 : -1)))];
      if (next) { next.focus(); next.scrollIntoView({ block: "start" }); }
    } else if (event.key === "Enter" && at && at.classList.contains("card")) {
      const parts = all("details", at);
      const open = parts.some((d) => !d.open);
      parts.forEach((d) => { d.open = open; });
    } else {
      return;
    }
    event.preventDefault();
  });

  // Layouts, by tiles: an overview of the tiles, and the one that is chosen with a position in every cell.
  const SVG = "http://www.w3.org/2000/svg";
  const make = (name, attributes, parent, words) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    if (words !== undefined) node.textContent = words;
    if (parent) parent.append(node);
    return node;
  };
  const element = (name, parent, words) => {
    const node = document.createElement(name);
    if (words !== undefined) node.textContent = words;
    parent.append(node);
    return node;
  };
  const drawLayout = (place) => {
    const l = JSON.parse(place.dataset.layout);
    const [high, wide] = l.tile;
    const down = l.base.length, across = l.base[0].length;
    const marks = new Set(l.marks.map(([i, j]) => `${i},${j}`));
    const inTile = (a, b) => l.marks.some(([i, j]) => Math.floor(i / high) === a && Math.floor(j / wide) === b);
    element("p", place, l.caption);
    const frame = element("div", place);
    frame.className = "frame";
    const W = 108, H = 34;
    const overview = make("svg", { width: across * W + 2, height: down * H + 2 }, frame);
    const head = element("p", place);
    const bar = element("p", place);
    const detail = element("div", place);
    detail.className = "frame";
    detail.tabIndex = 0;
    ["−", "+"].forEach((sign) => {
      const button = element("button", bar, sign);
      button.type = "button";
      button.setAttribute("aria-label", sign === "+" ? "zoom in" : "zoom out");
      button.addEventListener("click", () => zoom(detail, sign === "+" ? 1.25 : 0.8));
    });
    const blocks = new Map();
    const choose = (a, b) => {
      blocks.forEach((block) => block.classList.remove("chosen"));
      blocks.get(`${a},${b}`).classList.add("chosen");
      const base = l.base[a][b];
      head.textContent = `Tile ${a}, ${b}: rows ${a * high} to ${Math.min(l.rows, (a + 1) * high) - 1}, columns ${b * wide} to `
        + `${Math.min(l.columns, (b + 1) * wide) - 1}; positions ${base} to ${base + high * wide - 1}. A number is a position in memory.`;
      detail.replaceChildren();
      const C = 14 + 7 * String(base + high * wide).length, R = 22, left = 44, top = 20;
      const svg = make("svg", { width: left + wide * C + 2, height: top + high * R + 2 }, detail);
      for (let j = 0; j < wide; j += 1) make("text", { x: left + (j + 0.5) * C, y: 14, "text-anchor": "middle", class: "padtext" }, svg, b * wide + j);
      for (let i = 0; i < high; i += 1) {
        make("text", { x: left - 6, y: top + i * R + 15, "text-anchor": "end", class: "padtext" }, svg, a * high + i);
        for (let j = 0; j < wide; j += 1) {
          const row = a * high + i, column = b * wide + j;
          const padding = row >= l.rows || column >= l.columns;
          const kind = marks.has(`${row},${column}`) ? "marked" : padding ? "pad" : (a + b) % 2 ? "odd" : "even";
          make("rect", { x: left + j * C, y: top + i * R, width: C, height: R, class: kind }, svg);
          make("text", { x: left + (j + 0.5) * C, y: top + i * R + 15, "text-anchor": "middle", class: padding ? "padtext" : "" },
            svg, base + l.inner[i][j]);
        }
      }
    };
    for (let a = 0; a < down; a += 1) {
      for (let b = 0; b < across; b += 1) {
        const block = make("g", { class: "block", tabindex: 0, role: "button", "aria-label": `tile ${a}, ${b}` }, overview);
        make("rect", { x: b * W + 1, y: a * H + 1, width: W - 2, height: H - 2, class: inTile(a, b) ? "marked" : (a + b) % 2 ? "odd" : "even" }, block);
        make("text", { x: b * W + W / 2, y: a * H + 21, "text-anchor": "middle" }, block, `${l.base[a][b]}…${l.base[a][b] + high * wide - 1}`);
        block.addEventListener("click", () => choose(a, b));
        block.addEventListener("keydown", (event) => {
          const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
          if (event.key === "Enter" || event.key === " ") choose(a, b);
          else if (step && blocks.has(`${a + step[0]},${b + step[1]}`)) {
            blocks.get(`${a + step[0]},${b + step[1]}`).focus();
            choose(a + step[0], b + step[1]);
          } else return;
          event.preventDefault();
          event.stopPropagation();
        });
        blocks.set(`${a},${b}`, block);
      }
    }
    const first = l.marks[0] || [0, 0];
    choose(Math.min(down - 1, Math.floor(first[0] / high)), Math.min(across - 1, Math.floor(first[1] / wide)));
  };
  all(".layout").forEach(drawLayout);
  all(".code").forEach((list) => {
    const cut = list.querySelector(".cut");
    if (cut) list.scrollTop = cut.offsetTop - list.offsetTop - 80;
  });
})();

// What makes the page answer: texts where one points, tables that sort, pictures that zoom. Without it all of the page's text is there.
"use strict";
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const make = (name, text, parent) => {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  };

  // --- a text beside the pointer, of whatever has one (data-t); also by keyboard and by touch ---
  const tip = document.getElementById("tip");
  function showTip(target, x, y) {
    tip.textContent = target.dataset.t;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, x + 14), innerWidth - box.width - 4);
    const below = y + 18 + box.height < innerHeight;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (below ? y + 18 : Math.max(4, y - box.height - 10)) + "px";
  }
  const hideTip = () => { tip.hidden = true; };
  const moveTip = () => { // the element may have moved under the pointer; a focused one takes its text along
    const focused = document.activeElement;
    if (tip.hidden || !focused || !focused.dataset.t || focused.dataset.t !== tip.textContent) return hideTip();
    const box = focused.getBoundingClientRect();
    showTip(focused, box.left, box.bottom - 12);
  };
  function pointed(event) {
    const target = event.target.closest && event.target.closest("[data-t]");
    if (target) showTip(target, event.clientX, event.clientY);
    else hideTip();
  }
  document.addEventListener("pointermove", event => { if (event.pointerType === "mouse") pointed(event); });
  document.addEventListener("click", pointed);
  document.addEventListener("scroll", moveTip, true);
  document.addEventListener("focusin", event => {
    if (!event.target.dataset || !event.target.dataset.t) return hideTip();
    const box = event.target.getBoundingClientRect();
    showTip(event.target, box.left, box.bottom - 12);
  });
  document.addEventListener("keydown", event => { if (event.key === "Escape") hideTip(); });

  // --- a vertex is the same in the text and in the picture ---
  for (const article of all("article"))
    article.addEventListener("pointerover", event => {
      const from = event.target.closest("[data-v]");
      all(".hot", article).forEach(element => element.classList.remove("hot"));
      if (from) all(`[data-v="${from.dataset.v}"]`, article).forEach(element => element.classList.add("hot"));
    });

  // --- tables that sort ---
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.s === undefined ? cell.textContent : Number(cell.dataset.s);
  };
  function sort(table, header) {
    const column = header.cellIndex, body = table.tBodies[0];
    const down = header.getAttribute("aria-sort") ? header.getAttribute("aria-sort") === "ascending"
      : body.rows.length > 0 && typeof valueOf(body.rows[0], column) === "number";
    all("th", table).forEach(other => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = Array.from(body.rows).sort((a, b) => {
      const x = valueOf(a, column), y = valueOf(b, column);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    body.append(...rows);
  }
  for (const table of all("table.sortable"))
    for (const header of all("th", table)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      header.replaceChildren(button);
      button.addEventListener("click", () => sort(table, header));
    }

  function addButtons(picture, buttons) {
    const tools = picture.querySelector(".tools");
    for (const [text, label, action] of buttons) {
      const button = make("button", text, tools);
      button.type = "button";
      button.title = label;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", action);
    }
    return tools;
  }

  // --- lanes: wider is nearer ---
  for (const lanes of all(".lanes")) {
    const svg = lanes.querySelector("svg");
    let scale = 1;
    const zoom = (factor, at = lanes.clientWidth / 2) => {
      const before = (lanes.scrollLeft + at) / scale;
      scale = factor ? Math.min(200, Math.max(1, scale * factor)) : 1;
      svg.style.width = scale * 100 + "%";
      lanes.scrollLeft = before * scale - at;
    };
    addButtons(lanes.parentElement, [["+", "Zoom in", () => zoom(1.6)], ["\u2212", "Zoom out", () => zoom(1 / 1.6)],
      ["All", "Show all", () => zoom(0)]]);
    lanes.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - lanes.getBoundingClientRect().left);
    }, {passive: false});
    lanes.addEventListener("keydown", event => {
      const factor = {"+": 1.6, "=": 1.6, "-": 1 / 1.6, "0": 0}[event.key];
      if (factor === undefined || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      zoom(factor);
    });
  }

  // --- the tree: its view box moves; names where there is room, those of the largest first ---
  class Tree {
    constructor(svg) {
      this.svg = svg;
      this.labels = svg.querySelector(".labels");
      this.whole = svg.getAttribute("viewBox").split(" ").map(Number);
      this.box = this.whole.slice();
      this.nodes = new Map();
      for (const group of all(".n", svg)) {
        const circle = group.querySelector("circle");
        const lines = group.dataset.t.split("\n");
        this.nodes.set(group.dataset.n, {group, circle, x: Number(circle.getAttribute("cx")), y: Number(circle.getAttribute("cy")),
          weight: Number(group.dataset.w), parent: group.dataset.p, name: lines[0], time: group.dataset.i});
      }
      this.byWeight = Array.from(this.nodes.values()).sort((a, b) => b.weight - a.weight);
      this.goals = (svg.dataset.goals || "").split(" ").filter(Boolean).map(goal => goal.split(":"));
      this.listen();
      new ResizeObserver(() => this.show()).observe(svg);
    }

    unit() { // of the drawing, in pixels
      return Math.min(this.svg.clientWidth / this.box[2], this.svg.clientHeight / this.box[3]) || 1;
    }

    // The view box has the proportions of the window, so that it is all that is seen.
    fit(x, y, width, height) {
      const ratio = this.svg.clientWidth / (this.svg.clientHeight || 1) || 1;
      const wide = Math.max(width, height * ratio), high = wide / ratio;
      this.box = [x + width / 2 - wide / 2, y + height / 2 - high / 2, wide, high];
    }

    show() {
      this.svg.setAttribute("viewBox", this.box.map(number => number.toFixed(2)).join(" "));
      const unit = this.unit();
      for (const node of this.byWeight) node.circle.setAttribute("r", (2.2 / unit).toFixed(2));
      this.write(unit);
    }

    write(unit) {
      const size = 12 / unit, taken = [], made = [];
      const [left, top, width, high] = this.box;
      const free = box => taken.every(other => box.x2 < other.x1 || box.x1 > other.x2 || box.y2 < other.y1 || box.y1 > other.y2);
      const first = this.byWeight.filter(node => node.group.classList.contains("on"));
      const others = this.svg.classList.contains("chosen") ? [] : this.byWeight;
      for (const node of first.concat(others)) {
        if (made.length > 250) break;
        if (node.x < left || node.x > left + width || node.y < top || node.y > top + high) continue;
        const text = (node.name.length > 60 ? node.name.slice(0, 58) + "\u2026" : node.name) + "  " + node.time;
        const x1 = node.x + size * 0.8, length = text.length * size * 0.54;
        const box = {x1, x2: x1 + length, y1: node.y - size * 0.55, y2: node.y + size * 0.55};
        if (box.x2 > left + width && x1 > left + width * 0.5) { // at the right edge it stands on the other side
          box.x1 = node.x - size * 0.8 - length;
          box.x2 = node.x - size * 0.8;
        }
        if (!free(box)) continue;
        taken.push(box);
        const label = document.createElementNS("http://www.w3.org/2000/svg", "text");
        label.textContent = text;
        label.setAttribute("x", box.x1.toFixed(2));
        label.setAttribute("y", (node.y + size * 0.35).toFixed(2));
        label.style.fontSize = size.toFixed(3) + "px";
        label.style.strokeWidth = (size * 0.28).toFixed(3) + "px";
        if (node.group.classList.contains("worst")) label.setAttribute("class", "worst");
        made.push(label);
      }
      this.labels.replaceChildren(...made);
    }

    zoom(factor, x = this.box[0] + this.box[2] / 2, y = this.box[1] + this.box[3] / 2) {
      const width = Math.min(this.whole[2] * 4 + 4000, Math.max(60, this.box[2] * factor)), share = width / this.box[2];
      this.box = [x - (x - this.box[0]) * share, y - (y - this.box[1]) * share, width, this.box[3] * share];
      this.show();
    }

    move(x, y) {
      this.box[0] += x;
      this.box[1] += y;
      this.show();
    }

    clear() {
      this.svg.classList.remove("chosen");
      all(".on, .worst", this.svg).forEach(group => group.classList.remove("on", "worst"));
    }

    all() {
      this.clear();
      this.fit(...this.whole);
      this.show();
    }

    // To a context: its functions, with the bottleneck in the middle.
    go(number) {
      const goal = this.goals[number];
      if (!goal) return this.all();
      this.clear();
      this.svg.classList.add("chosen");
      const path = [];
      for (let at = goal[0]; at !== undefined && this.nodes.has(at); at = this.nodes.get(at).parent) path.push(this.nodes.get(at));
      for (const node of path) node.group.classList.add("on");
      const worst = this.nodes.get(goal[1]) || path[0];
      worst.group.classList.add("worst");
      const shown = path.filter(node => Math.abs(node.y - worst.y) <= 24 * 14);
      const xs = shown.map(node => node.x), ys = shown.map(node => node.y);
      const x = Math.min(...xs), y = Math.min(...ys);
      this.fit(x - 40, y - 24, Math.max(...xs) - x + 300, Math.max(...ys) - y + 48);
      this.show();
    }

    place(event) { // of the pointer, in the drawing
      const box = this.svg.getBoundingClientRect(), unit = this.unit();
      return [this.box[0] + (event.clientX - box.left) / unit, this.box[1] + (event.clientY - box.top) / unit];
    }

    listen() {
      const svg = this.svg, down = new Map();
      svg.addEventListener("wheel", event => {
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== svg) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 0.8 : 1.25, ...this.place(event));
      }, {passive: false});
      svg.addEventListener("pointerdown", event => {
        down.set(event.pointerId, [event.clientX, event.clientY]);
        svg.focus({preventScroll: true});
      });
      svg.addEventListener("pointermove", event => {
        const last = down.get(event.pointerId);
        if (!last) return;
        const [x, y] = [event.clientX, event.clientY];
        if (down.size === 1 && Math.abs(x - last[0]) + Math.abs(y - last[1]) < 3 && !svg.classList.contains("drag")) return;
        if (!svg.classList.contains("drag")) {
          svg.classList.add("drag");
          svg.setPointerCapture(event.pointerId);
        }
        if (down.size === 1) this.move((last[0] - x) / this.unit(), (last[1] - y) / this.unit());
        else {
          const other = Array.from(down.entries()).find(([id]) => id !== event.pointerId)[1];
          const before = Math.hypot(last[0] - other[0], last[1] - other[1]), now = Math.hypot(x - other[0], y - other[1]);
          if (now > 0) this.zoom(before / now, ...this.place(event));
        }
        down.set(event.pointerId, [x, y]);
      });
      const up = event => {
        down.delete(event.pointerId);
        if (!down.size) svg.classList.remove("drag");
      };
      svg.addEventListener("pointerup", up);
      svg.addEventListener("pointercancel", up);
      svg.addEventListener("keydown", event => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = this.box[2] / 8;
        const action = {"+": () => this.zoom(0.7), "=": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7), "0": () => this.all(),
          ArrowLeft: () => this.move(-step, 0), ArrowRight: () => this.move(step, 0), ArrowUp: () => this.move(0, -step),
          ArrowDown: () => this.move(0, step)}[event.key];
        if (!action) return;
        event.preventDefault();
        action();
      });
    }
  }

  let tree = null;
  for (const svg of all("svg.tree")) {
    tree = new Tree(svg);
    const tools = addButtons(svg.parentElement, [["+", "Zoom in", () => tree.zoom(0.7)], ["\u2212", "Zoom out", () => tree.zoom(1 / 0.7)],
      ["All", "Show all", () => { choice.value = ""; tree.all(); }]]);
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", "Go to a context");
    make("option", "go to context \u2026", choice).value = "";
    all(".heat tr").forEach((row, number) => { make("option", row.cells[0].textContent.replace(/\s+/g, " "), choice).value = number; });
    choice.addEventListener("change", () => {
      if (choice.value === "") return tree.all();
      showBottleneck(choice.value);
      tree.go(Number(choice.value));
    });
    tools.append(choice);
    const showBottleneck = number => {
      const cell = document.querySelector(`.heat tr[data-c="${number}"] td.worst`);
      const frame = cell && cell.closest(".scroll");
      if (frame) frame.scrollLeft = cell.offsetLeft + cell.offsetWidth / 2 - (frame.clientWidth + cell.parentElement.cells[0].offsetWidth) / 2;
    };
    for (const row of all(".heat tr"))
      row.addEventListener("click", event => {
        const number = Number(row.dataset.c);
        showBottleneck(number);
        const details = document.getElementById("c" + (number + 1));
        choice.value = number;
        tree.go(number);
        if (details) details.open = true;
        if (!event.target.closest("a")) svg.parentElement.scrollIntoView({block: "nearest"});
      });
    if (tree.goals.length) { // the costliest context first
      choice.value = 0;
      requestAnimationFrame(() => { showBottleneck(0); if (choice.value === "0") tree.go(0); });
    } else tree.all();
    const goThere = () => {
      const number = /^#c(\d+)$/.exec(location.hash);
      if (!number || number[1] > tree.goals.length) return;
      choice.value = number[1] - 1;
      document.getElementById("c" + number[1]).open = true;
      showBottleneck(number[1] - 1);
      requestAnimationFrame(() => tree.go(number[1] - 1));
    };
    addEventListener("hashchange", goThere);
    goThere();
  }

  // --- the heat map by arrow keys ---
  for (const table of all("table.heat")) {
    const first = table.querySelector("td");
    if (first) first.tabIndex = 0;
    table.addEventListener("keydown", event => {
      const cell = event.target.closest("td"), step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (!cell) return;
      if (event.key === "Enter") return cell.click();
      if (!step) return;
      const row = table.rows[cell.parentElement.rowIndex + step[0]];
      const next = row && row.cells[Math.min(row.cells.length - 1, cell.cellIndex + step[1])];
      event.preventDefault();
      if (!next || next.tagName !== "TD") return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
})();

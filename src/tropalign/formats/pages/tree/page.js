/* The page of a tree: its controls, and the description of a branch. */
const MOST_NAMES = 1_000;

class TreePage {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, names: data.names, lower: null});
    const given = {parent: arrays.parent, length: arrays.length, support: arrays.support, group: arrays.group};
    this.tree = new FamilyTree(element("tree"), {
      given,
      names: data.names,
      groups: data.groups,
      labels: data.labels,
      hasMidpoint: data.has_midpoint,
      told: (node) => this.told(node),
      onChoose: (node) => this.click(node),
    });
    this.hasSupport = arrays.support.some((value) => !Number.isNaN(value)) || data.has_labels;
    element("tree-support").disabled = !this.hasSupport, element("tree-midpoint").disabled = !data.has_midpoint;
    if (!data.has_lengths) element("tree-lengths").value = "level", this.tree.setLengths("level");
    this.tell();
    this.listen();
    this.report.drawnBy(() => this.draw(), element("tree-inside"));
  }
  draw() {
    this.tree.height = clamp(innerHeight - element("tree-card").querySelector(".head").offsetHeight - 110, 380, 1200);
    this.tree.setTheme(this.report.isDark);
  }
  tell() {
    const {data, tree: {layout}} = this, {groups} = data, {group} = this.report.arrays, nTips = layout.tips[0];
    const isRooted = layout.last[0] > layout.first[0] && this.childrenOfRoot() === 2;
    const sizes = new Uint32Array(groups.length + 1);
    for (let k = 0; k < layout.n; k++) layout.isTip(k) && sizes[group[k]]++;
    this.report.tell(`${counted(nTips, "tip")}${isRooted ? "" : ", no root"}`, {
      tips: nTips.toLocaleString("en"),
      branches: (layout.n - 1).toLocaleString("en"),
      root: isRooted ? "as in the file" : "none: the drawn root has no meaning",
      ...groups.length && {groups: groups.map(({name}, k) => `${shown(name)} (${sizes[k + 1]})`).join(", ")},
      ...groups.length && sizes[0] && {"without a group": sizes[0].toLocaleString("en")},
    });
  }
  childrenOfRoot() {
    return this.tree.roots.given.parent.reduce((sum, above) => sum + (above === 0), 0);
  }

  /** Name of a branch: the tip below it, or the first and the last one. */
  clade(node) {
    const {tree} = this, {layout} = tree;
    if (layout.isTip(node)) return tree.name(node, 64);
    let first = node, last = node;
    while (!layout.isTip(first)) first = layout.first[first];
    while (!layout.isTip(last)) last = layout.last[last];
    const own = tree.name(node, 64);
    return `${own && `${own}: `}${tree.name(first, 28)} … ${tree.name(last, 28)}`;
  }
  facts(node) {
    const {tree} = this, {layout} = tree, {length, support} = tree.tree,
          number = (value) => String(+value.toPrecision(6));
    let far = 0;
    for (let k = node; k > 0; k = layout.parent[k]) far += length[k];
    return {
      ...!layout.isTip(node) && {tips: layout.tips[node].toLocaleString("en")},
      ...this.data.has_lengths && {length: number(length[node]), "from the root": number(far)},
      ...!Number.isNaN(support[node]) && {support: String(+support[node].toFixed(2))},
      ...tree.branchLabel(node) && {support: tree.branchLabel(node)},
      ...tree.hue[node] && {group: shown(this.data.groups[tree.hue[node] - 1].name)},
    };
  }
  told(node) {
    return [this.clade(node), ...Object.entries(this.facts(node)).map(([term, meaning]) => `${term} ${meaning}`)].join(
      "\n");
  }
  /** Names of the tips below a branch. */
  namesBelow(node) {
    const {layout, tree: {id}} = this.tree, found = [];
    for (let k = node; k < layout.end[node]; k++) layout.isTip(k) && found.push(this.names[id[k]]);
    return found;
  }
  click(node) {
    const act = element("tree-click").value;
    if (act === "root") return this.reroot(() => this.tree.rootAbove(node));
    this.choose(node);
    if (act === "collapse") this.tree.toggle(node);
  }
  choose(node) {
    this.tree.choose(node);
    element("clade-note").hidden = true, element("clade-save").disabled = false;
    const names = this.namesBelow(node), more = names.length - MOST_NAMES;
    element("clade-title").textContent = this.clade(node);
    fillTerms(element("clade"), this.facts(node));
    element("clade-names").textContent = names.slice(0, MOST_NAMES).map((name) => cut(shown(name), 200)).join("\n") +
      (more > 0 ? `\n... and ${counted(more, "more name")}` : "");
    say(this.told(node).replaceAll("\n", ", "));
  }
  reroot(act) {
    act();
    const {chosen} = this.tree;
    if (chosen > 0) this.choose(chosen);
    say("The root of the tree has changed.");
  }
  /** Find the tips whose names contain all words. */
  find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), found = [],
          {layout, roots: {given: {parent}}} = this.tree;
    this.isInner ??=
      parent.reduce((inner, above) => (above >= 0 && (inner[above] = 1), inner), new Uint8Array(layout.n));
    if (words.length)
      this.names.forEach((name, node) => {
        if (!this.isInner[node] && words.every((word) => name.toLowerCase().includes(word))) found.push(node);
      });
    this.next = -1;
    this.tree.find(found);
    element("tree-found").textContent = words.length ? counted(found.length, "tip") : "";
    say(words.length ? `${counted(found.length, "tip")} found` : "");
  }
  toNext(step) {
    const {hits} = this.tree;
    if (!hits.length) return;
    this.next = (this.next + step + hits.length) % hits.length;
    this.tree.show(hits[this.next]);
    this.choose(hits[this.next]);
    element("tree-found").textContent = `${(this.next + 1).toLocaleString("en")} of ${counted(hits.length, "tip")}`;
  }
  listen() {
    const {tree} = this;
    tree.addButtons();
    on("tree-lengths", "change", (event) => tree.setLengths(event.target.value));
    on("tree-order", "change", (event) => tree.setOrder(event.target.value));
    on("tree-support", "change", (event) => (tree.support = event.target.value, tree.draw()));
    on("tree-root", "click", () => this.reroot(() => tree.rootAbove(tree.chosen)));
    on("tree-midpoint", "click", () => this.reroot(() => tree.rootAtMidpoint()));
    on("tree-given", "click", () => this.reroot(() => tree.rootAsGiven()));
    on("tree-wider", "click", () => tree.widen(1.5));
    on("tree-find", "input", (event) => this.find(event.target.value));
    on("tree-find", "keydown", (event) => event.key === "Enter" && this.toNext(event.shiftKey ? -1 : 1));
    onSave("tree", (kind) => tree.save(kind, element("tree-part").value, this.data.title));
    on("clade-save", "click", () => saveFile("names.txt", `${this.namesBelow(tree.chosen).join("\n")}\n`));
  }
}

openReport(TreePage);

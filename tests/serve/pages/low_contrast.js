// Every text that is seen, with the colour behind it: those whose contrast is below what WCAG asks for (AA).
const channel = value => value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
const parts = text => text.match(/[\d.]+/g).map(Number);
const luminance = ([r, g, b]) => .2126 * channel(r / 255) + .7152 * channel(g / 255) + .0722 * channel(b / 255);
const behind = element => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parts(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (
    !walker.currentNode.data.trim() || !element.checkVisibility() ||
    element.closest("script, option, noscript, .unseen, .skip"))
    continue;
  const [one, other] = [luminance(parts(getComputedStyle(element).color)), luminance(behind(element))];
  const contrast = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
  if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`);
}
for (const field of document.querySelectorAll("input, select, textarea, button")) {
  if (!field.checkVisibility() || field.type === "hidden") continue;
  const edge = luminance(parts(getComputedStyle(field).borderTopColor)),
        around = luminance(behind(field.parentElement));
  const contrast = (Math.max(edge, around) + .05) / (Math.min(edge, around) + .05);
  if (contrast < 3 && field.type !== "checkbox" && !field.classList.contains("link"))
    found.push(`edge ${contrast.toFixed(2)} ${field.id || field.textContent}`);
}
return found;

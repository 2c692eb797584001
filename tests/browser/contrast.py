"""How well the text of a page can be read, measured in a browser."""

LEAST_CONTRAST = """() => {
  const rgb = text => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (top, under) => top.slice(0, 3).map((value, n) => value * top[3] + under[n] * (1 - top[3]));
  const luminance = colour => {
    const [r, g, b] = colour.map(value => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = element => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) layers.push(rgb(getComputedStyle(node).backgroundColor));
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    return layers.reverse().reduce((under, top) => over(top, under), dark ? [0, 0, 0] : [255, 255, 255]);
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
    const under = background(element), ink = over(rgb(getComputedStyle(element).color), under);
    const [low, high] = [luminance(under), luminance(ink)].sort((a, b) => a - b);
    const name = element.tagName + '.' + element.className;
    found.set(name, Math.min(found.get(name) ?? 99, (high + 0.05) / (low + 0.05)));
  }
  return [...found];
}"""
"""The least contrast of text and what is behind it, for each kind of element."""

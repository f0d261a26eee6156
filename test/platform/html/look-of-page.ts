import type { Page } from 'playwright-core';

/** A text, or a patch of colour, and how well it is recognized from what is behind it. */
export interface Contrast {
  readonly what: string;
  readonly ratio: number;
}

/** Runs in the page: the contrast of two colours as WCAG 2 defines it, and the colour behind an element. */
const measures = `
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const luminance = (colour) => {
  const [red, green, blue] = parts(colour)
    .slice(0, 3)
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (parts(colour)[3] !== 0) return colour;
  }
  return getComputedStyle(document.documentElement).backgroundColor;
};`;

/** Each text of the page that can be seen. */
export async function textContrasts(page: Page): Promise<readonly Contrast[]> {
  return page.evaluate(`(() => {
    ${measures}
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { textContent, parentElement } = walker.currentNode;
      if (textContent.trim() === '' || !parentElement.checkVisibility()) continue;
      const ratio = contrast(getComputedStyle(parentElement).color, behind(parentElement));
      found.push({ what: textContent.trim(), ratio });
    }
    return found;
  })()`);
}

/** Each kind of patch in a key, as the words beside it call it, with its colour. */
export async function swatches(
  page: Page,
): Promise<readonly (Contrast & { readonly tone: string; readonly colour: string })[]> {
  return page.evaluate(`(() => {
    ${measures}
    return [...document.querySelectorAll('.swatch')].map((swatch) => {
      const colour = getComputedStyle(swatch).backgroundColor;
      return {
        what: swatch.nextSibling.textContent.replace(/[\\d,]/g, '').trim().toLowerCase(),
        tone: swatch.className.replace('swatch', '').trim(),
        colour,
        ratio: contrast(colour, behind(swatch.parentElement)),
      };
    });
  })()`);
}

import { Page } from '../page.js';

/** Where the specification is. */
export const specificationPath = 'docs/reference/service-interface.md';
export const specification = new Page(specificationPath);
const headings = specification.text.split('\n').filter((line) => /^##+ \d/.test(line));

/** A section by its number; links are only their words. */
export function section(number: string): string {
  const heading = headings.find((line) => new RegExp(`^##+ ${number}\\.? `).test(line));
  if (heading === undefined) throw new Error(`${specificationPath} has no section ${number}`);
  return specification.section(heading).replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

/** A name as SQL takes it to the letter. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

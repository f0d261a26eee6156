/** Whether two lists hold the same names in the same order. Asked for each row: strings of a program are mostly one object. */
export function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/** A column's name, however it is written: names that a person takes for the same. */
export function caseless(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

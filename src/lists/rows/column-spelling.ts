/** A column's name, however it is written: names that a person takes for the same. */
export function caseless(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

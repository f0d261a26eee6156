/** Digits that every double of the usual size holds, and the smallest of that size. */
const heldDigits = 15;
const smallestWhole = 2 ** -1022;

/**
 * JSON as its source wrote it: no digit, no repeated key and no order of it is touched.
 *
 * @example
 * ```ts
 * console.log(String(new JsonText('1.50'))); // 1.50
 * ```
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /**
   * The double that has the value of a number which it would print otherwise: `1.50`. `undefined` where
   * the text is no number, or no double has its value.
   */
  get number(): number | undefined {
    if (!/^-?\d/.test(this.text)) return undefined;
    const number = Number(this.text);
    const [digits = ''] = /^[^eE]*/.exec(this.text) ?? [];
    const significant = digits.replaceAll(/\D/g, '').replace(/^0+/, '');
    if (significant === '') return number;
    const isHeld = significant.length <= heldDigits || !/[1-9]/.test(significant.slice(heldDigits));
    const size = Math.abs(number);
    return isHeld && size >= smallestWhole && size < Infinity ? number : undefined;
  }

  toString(): string {
    return this.text;
  }

  /** The same on one line, where it may be a part of other JSON; any other text becomes a JSON string. */
  inJson(): string {
    try {
      JSON.parse(this.text);
    } catch {
      return JSON.stringify(this.text);
    }
    // Between values only: in a string they are escaped.
    return this.text.replaceAll(/[\r\n]+/g, ' ').trim();
  }
}

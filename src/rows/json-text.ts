/** JSON as its source wrote it: no digit, no repeated key and no order of it is touched. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** The same on one line, where it may stand in other JSON; what is no JSON is a JSON string. */
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

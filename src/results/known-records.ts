import type { VerificationType } from '../contract/enums.js';
import type { OutcomeTable } from './outcome-table.js';
import { RecordShapes } from './record-shapes.js';
import { RecordTemplates } from './record-templates.js';

/**
 * What exports of one run have shown of their records so far: those that come again to the byte are
 * recognised whole, the others by their shape.
 */
export class KnownRecords {
  /** Where the record found last ends. */
  end = 0;

  readonly #templates: RecordTemplates;
  readonly #shapes: RecordShapes;

  constructor(type: VerificationType, outcomes: OutcomeTable) {
    this.#templates = new RecordTemplates(type);
    this.#shapes = new RecordShapes(type, outcomes);
  }

  /**
   * Looks whether a record like one seen before begins at `from`.
   *
   * @param view of the same bytes
   * @returns the id of its outcome, or -1 when it has to be parsed
   */
  find(bytes: Buffer, view: DataView, from: number, to: number): number {
    const known = this.#templates.find(view, from, to);
    if (known !== -1) {
      this.end = this.#templates.end;
      return known;
    }
    const read = this.#shapes.read(bytes, view, from, to);
    if (read === -1) return -1;
    this.end = this.#shapes.end;
    // Results that come once would only fill the room.
    if (!this.#shapes.isNew) this.#templates.add(bytes.subarray(from, this.end), read);
    return read;
  }

  /**
   * Takes in a record that was parsed.
   *
   * @param record legal JSON, an object, without white space around it
   */
  add(record: Buffer, outcome: number): void {
    this.#templates.add(record, outcome);
    this.#shapes.add(record);
  }
}

const all = new WeakMap<OutcomeTable, Map<VerificationType, KnownRecords>>();

/** The records known to all exports whose outcomes stand in one table. */
export function knownRecords(type: VerificationType, outcomes: OutcomeTable): KnownRecords {
  let types = all.get(outcomes);
  if (!types) all.set(outcomes, (types = new Map<VerificationType, KnownRecords>()));
  let known = types.get(type);
  if (!known) types.set(type, (known = new KnownRecords(type, outcomes)));
  return known;
}

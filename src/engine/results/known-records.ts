import type { VerificationType } from '../../contract/enums.js';
import type { OutcomeTable } from './outcome-table.js';
import { RecordShapes } from './record-shapes.js';
import { RecordTemplates } from './record-templates.js';

/** A smaller export is read before a kernel has started. */
const worthBytes = 4096;

/**
 * What exports of one run have shown of their records so far: those that come again to the byte are
 * recognised whole, the others by their shape.
 */
export class KnownRecords {
  readonly #type: VerificationType;
  /** `undefined` in engines without WebAssembly, and as long as all is small: there shapes alone are known. */
  #templates: RecordTemplates | undefined;
  #areTemplatesTried = false;
  readonly #shapes: RecordShapes;

  constructor(type: VerificationType, outcomes: OutcomeTable) {
    this.#type = type;
    this.#shapes = new RecordShapes(type, outcomes);
  }

  /** @returns what reads the records of a piece that were seen before, where there is any */
  show(piece: Uint8Array): RecordTemplates | undefined {
    if (!this.#areTemplatesTried && piece.length >= worthBytes) {
      this.#areTemplatesTried = true;
      this.#templates = templatesOf(this.#type);
    }
    this.#templates?.show(piece);
    return this.#templates;
  }

  /** Where the record found last ends. */
  get end(): number {
    return this.#shapes.end;
  }

  /**
   * Looks whether a record of a known shape begins at `from`.
   *
   * @param view of the same bytes
   * @returns the id of its outcome, or -1 when it has to be parsed
   */
  find(bytes: Buffer, view: DataView, from: number, to: number): number {
    const outcome = this.#shapes.read(bytes, view, from, to);
    // Results that come once would only fill the room.
    if (outcome !== -1 && !this.#shapes.isNew) {
      this.#templates?.add(bytes.subarray(from, this.end), outcome);
    }
    return outcome;
  }

  /**
   * Takes in a record that was parsed.
   *
   * @param record legal JSON, an object, without white space around it
   */
  add(record: Buffer, outcome: number): void {
    this.#templates?.add(record, outcome);
    this.#shapes.add(record);
  }
}

function templatesOf(type: VerificationType): RecordTemplates | undefined {
  try {
    return new RecordTemplates(type);
  } catch {
    // Engines without WebAssembly (`--jitless`), or without address space for its memory.
    return undefined;
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

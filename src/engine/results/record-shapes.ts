import type { VerificationType } from '../../contract/enums.js';
import { recordFields } from '../../contract/records.js';
import { beginsWith, isJsonSpace, json, plainTextEnd, viewOf } from './json/json-bytes.js';
import type { OutcomeTable } from './outcome-table.js';
import { RecordTemplates } from './record-templates.js';

/** Remembered shapes: a service writes its records in one or two. */
const maxShapes = 4;
const maxKeyBytes = 4096;
/** Remembered spellings of texts with escapes or beyond ASCII. */
const maxSpellings = 32_768;

const comma = Buffer.from(',');
const end = Buffer.from(']');
const words = {
  true: { written: viewOf(Buffer.from('true')), kept: Buffer.from('1') },
  false: { written: viewOf(Buffer.from('false')), kept: Buffer.from('0') },
  null: { written: viewOf(Buffer.from('null')), kept: Buffer.from('null') },
} as const;

/** A record's members in order, and all bytes between their values. */
interface Shape {
  /** The bytes before each value, and after the last. */
  readonly between: readonly DataView[];
  /** For each member its position among an outcome's fields; -1 for others. */
  readonly fields: readonly number[];
  readonly text: string;
}

/**
 * Reads records with the members, order and white space of an earlier record, where values are words and
 * texts: the outcome's key is composed of the values' bytes, so that even a record with a new result needs no
 * parsing.
 */
export class RecordShapes {
  end = 0;
  isNew = false;

  readonly #type: VerificationType;
  readonly #outcomes: OutcomeTable;
  readonly #shapes: Shape[] = [];
  readonly #head: Uint8Array;
  readonly #key = Buffer.alloc(maxKeyBytes);
  /** Positions of the fields' values; -1 where the record has none. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** Ids by keys with an export's spelling of texts, where `JSON.stringify` spells them differently. */
  readonly #spellings = new Map<string, number>();
  /** Whether all texts are spelt as by `JSON.stringify`. */
  #isPlain = true;

  constructor(type: VerificationType, outcomes: OutcomeTable) {
    this.#type = type;
    this.#outcomes = outcomes;
    this.#head = Buffer.from(`["${type}"`);
    this.#starts = new Int32Array(recordFields[type].length);
    this.#ends = new Int32Array(recordFields[type].length);
  }

  /** Reads the record at `from`. @param view of the same bytes @returns its outcome's id; -1 when it must be parsed */
  read(bytes: Buffer, view: DataView, from: number, to: number): number {
    for (const shape of this.#shapes) {
      if (!this.#fits(shape, view, from, to)) continue;
      return this.#outcomeOf(bytes);
    }
    return -1;
  }

  /** Remembers the shape of a record. @param record valid JSON, an object, without surrounding white space */
  add(record: Buffer): void {
    if (this.#shapes.length === maxShapes) return;
    const shape = this.#shapeOf(record);
    const isKnown = this.#shapes.some((known) => shape?.text === known.text);
    if (shape && !isKnown) this.#shapes.push(shape);
  }

  #fits({ between, fields }: Shape, view: DataView, from: number, to: number): boolean {
    this.#starts.fill(-1);
    this.#isPlain = true;
    let at = from;
    for (let member = 0; member < fields.length; member += 1) {
      at = behind(between[member], view, at, to);
      if (at === -1) return false;
      const wasPlain: boolean = this.#isPlain;
      const valueEnd = this.#valueEnd(view, at, to);
      if (valueEnd === -1) return false;
      const field = fields[member] ?? -1;
      if (field !== -1) {
        this.#starts[field] = at;
        this.#ends[field] = valueEnd;
      } else if (this.#isPlain !== wasPlain) {
        // The validity of escapes is not checked here.
        return false;
      }
      at = valueEnd;
    }
    this.end = behind(between[fields.length], view, at, to);
    return this.end !== -1;
  }

  #valueEnd(view: DataView, at: number, to: number): number {
    if (at >= to) return -1;
    switch (view.getUint8(at)) {
      case json.quote: {
        const plainEnd = plainTextEnd(view, at + 1, to);
        if (plainEnd !== -1) return plainEnd + 1;
        this.#isPlain = false;
        return oddTextEnd(view, at + 1, to);
      }
      case 0x74: // t
        return behind(words.true.written, view, at, to);
      case 0x66: // f
        return behind(words.false.written, view, at, to);
      case 0x6e: // n
        return behind(words.null.written, view, at, to);
      default:
        return -1;
    }
  }

  #outcomeOf(bytes: Buffer): number {
    // The three flags identify a record, and come first among the fields.
    for (let flag = 0; flag < 3; flag += 1) {
      const start = this.#starts[flag] ?? -1;
      const first = start === -1 ? 0 : bytes[start];
      if (first !== 0x74 && first !== 0x66) return -1;
    }
    const length = this.#writeKey(bytes);
    if (length === -1) return -1;
    const key = this.#key.toString('latin1', 0, length);
    const size = this.#outcomes.size;
    const id = this.#isPlain
      ? this.#outcomes.idOfKey(key)
      : (this.#spellings.get(key) ?? this.#readSpelling(key));
    this.isNew = id === size;
    return id;
  }

  /** The outcome's key as the outcome table writes it, except for the spelling of texts. */
  #writeKey(bytes: Buffer): number {
    const key = this.#key;
    let at = put(key, 0, this.#head);
    for (let field = 0; field < this.#starts.length; field += 1) {
      at = put(key, at, comma);
      const start = this.#starts[field] ?? -1;
      const valueEnd = this.#ends[field] ?? 0;
      if (at + valueEnd - start + 8 > maxKeyBytes) return -1;
      const first = start === -1 ? 0x6e : bytes[start];
      if (first === json.quote) {
        for (let from = start; from < valueEnd; from += 1) {
          key[at] = bytes[from] as number;
          at += 1;
        }
      } else {
        const word = first === 0x74 ? 'true' : first === 0x66 ? 'false' : 'null';
        at = put(key, at, words[word].kept);
      }
    }
    return put(key, at, end);
  }

  /** Texts with escapes or beyond ASCII: decoded once for each spelling, as the key is JSON itself. */
  #readSpelling(spelt: string): number {
    let key: string;
    try {
      key = JSON.stringify(JSON.parse(Buffer.from(spelt, 'latin1').toString()));
    } catch {
      // The scanner reports the position.
      return -1;
    }
    const id = this.#outcomes.idOfKey(key);
    if (this.#spellings.size >= maxSpellings) this.#spellings.clear();
    this.#spellings.set(spelt, id);
    return id;
  }

  #shapeOf(record: Buffer): Shape | undefined {
    const names: string[] = [];
    const between: Buffer[] = [];
    const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
    let from = 0;
    for (;;) {
      let at = from + 1;
      while (isJsonSpace(record[at] ?? 0)) at += 1;
      if (record[at] !== json.quote) return undefined;
      const nameEnd = plainTextEnd(view, at + 1, record.length);
      if (nameEnd === -1) return undefined;
      names.push(record.toString('latin1', at + 1, nameEnd));
      at = nameEnd + 1;
      while (isJsonSpace(record[at] ?? 0) || record[at] === json.colon) at += 1;
      between.push(Buffer.from(record.subarray(from, at)));
      from = this.#valueEnd(view, at, record.length);
      if (from === -1) return undefined;
      at = from;
      while (isJsonSpace(record[at] ?? 0)) at += 1;
      if (record[at] === json.closeObject) {
        between.push(Buffer.from(record.subarray(from, at + 1)));
        break;
      }
      // White space before a comma: no service writes that.
      if (at !== from) return undefined;
    }
    // Of a repeated name the last counts.
    if (new Set(names).size !== names.length) return undefined;
    const fields: readonly string[] = recordFields[this.#type];
    return {
      between: between.map((bytes) => viewOf(bytes)),
      fields: names.map((name) => fields.indexOf(name)),
      text: Buffer.concat(between).toString('latin1'),
    };
  }
}

function behind(text: DataView | undefined, view: DataView, at: number, to: number): number {
  return text !== undefined && beginsWith(view, at, to, text) ? at + text.byteLength : -1;
}

/** End of a text that is not plain, after its quote; the validity of escapes is not checked. */
function oddTextEnd(view: DataView, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const byte = view.getUint8(at);
    if (byte === json.quote) return at + 1;
    if (byte < 0x20) return -1;
    if (byte === json.backslash) at += 1;
  }
  return -1;
}

function put(key: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index += 1) key[at + index] = bytes[index] as number;
  return at + bytes.length;
}

/** A smaller export is read before a kernel has started. */
const worthBytes = 4096;

/** The records seen in a run's exports: identical ones are recognised as a whole, others by their shape. */
export class KnownRecords {
  readonly #type: VerificationType;
  /** `undefined` without WebAssembly, and while exports are small: then only shapes are known. */
  #templates: RecordTemplates | undefined;
  #areTemplatesTried = false;
  readonly #shapes: RecordShapes;

  constructor(type: VerificationType, outcomes: OutcomeTable) {
    this.#type = type;
    this.#shapes = new RecordShapes(type, outcomes);
  }

  /** @returns reads the known records of a piece, if there can be any */
  show(piece: Uint8Array): RecordTemplates | undefined {
    if (!this.#areTemplatesTried && piece.length >= worthBytes) {
      this.#areTemplatesTried = true;
      this.#templates = templatesOf(this.#type);
    }
    this.#templates?.show(piece);
    return this.#templates;
  }

  get end(): number {
    return this.#shapes.end;
  }

  /** Reads a record of a known shape. @param view of the same bytes @returns its outcome's id; -1 when it must be parsed */
  find(bytes: Buffer, view: DataView, from: number, to: number): number {
    const outcome = this.#shapes.read(bytes, view, from, to);
    // Results that occur once would only fill the memory.
    if (outcome !== -1 && !this.#shapes.isNew) {
      this.#templates?.add(bytes.subarray(from, this.end), outcome);
    }
    return outcome;
  }

  /** Remembers a parsed record. @param record valid JSON, an object, without surrounding white space */
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

export function knownRecords(type: VerificationType, outcomes: OutcomeTable): KnownRecords {
  let types = all.get(outcomes);
  if (!types) all.set(outcomes, (types = new Map<VerificationType, KnownRecords>()));
  let known = types.get(type);
  if (!known) types.set(type, (known = new KnownRecords(type, outcomes)));
  return known;
}

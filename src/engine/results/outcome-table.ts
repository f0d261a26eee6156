import type { VerificationType } from '../../contract/enums.js';
import { emailRecordFields, phoneRecordFields, recordFields } from '../../contract/records.js';

/** The verdicts of a cell; `none` without a result. */
export const verdicts = ['valid', 'wrong', 'unknown', 'none'] as const;
export type Verdict = (typeof verdicts)[number];

/** Of a record with more than one flag set, wrong counts before unknown before valid. */
export function verdictOf({ values }: { readonly values: Outcome['values'] }): Verdict {
  const [valid, wrong, unknown] = values ?? [];
  if (wrong === true) return 'wrong';
  if (unknown === true) return 'unknown';
  return valid === true ? 'valid' : 'none';
}

/** From the worst: one wrong address makes a row worth checking, whatever else it has. */
const fromWorst = ['wrong', 'unknown', 'none', 'valid'] as const satisfies readonly Verdict[];

/** The verdict of a row by those of its cells; `undefined` for an empty one. */
export function worstVerdict(of: readonly (Verdict | undefined)[]): Verdict {
  return fromWorst.find((verdict) => of.includes(verdict)) ?? 'none';
}

export function qualityOf({ values }: Outcome): string {
  return String(values?.[qualityField] ?? '');
}

export function isDisposable({ values }: Outcome): boolean {
  return values?.[disposableField] === true;
}

/** Whether nothing says that a phone is in service: a valid one is so by its numbering plan alone. */
export function isStatusUnknown({ type, values }: Outcome): boolean {
  return type === 'phone' && values?.[statusField] === 'unknown';
}

const qualityField = emailRecordFields.indexOf('quality');
const disposableField = emailRecordFields.indexOf('is_disposable');
const statusField = phoneRecordFields.indexOf('status');

/** How the verification of a cell ended. */
export type Verification = 'verified' | 'not_submitted' | 'no_result' | 'failed';

/** A value of a record once it is read. */
export type OutcomeValue = string | boolean | null;

/** The result of a cell. */
export interface Outcome {
  readonly verification: Verification;
  /** Code of a missing result; empty when verified. */
  readonly reason: string;
  /** The record's fields in the order of `recordFields[type]`; undefined unless verified. */
  readonly values: readonly OutcomeValue[] | undefined;
  /** Undefined unless verified. */
  readonly type: VerificationType | undefined;
  /** Its origin; undefined where not asked for, or without a result. */
  readonly origin?: Origin | undefined;
}

/** Where a result comes from. */
export interface Origin {
  /** When the results were fetched, in ISO 8601. */
  readonly verifiedAt: string;
  /** `history` when an earlier run fetched them. */
  readonly source: 'service' | 'history';
  readonly batchUuid: string;
}

/** Slots of recently used outcomes. A run has a few dozen; with many more, memory stays flat. */
const recentSlots = 1024;

/** The three flags identify a record. Others are read leniently: a paid result is not dropped for a missing field. */
const flags = ['valid', 'wrong', 'unknown'] as const;

export function isRecord(record: Readonly<Record<string, unknown>>): boolean {
  return missingFlag(record) === undefined;
}

/** The first flag that keeps a value from being a record. Own properties only: a prototype's were not sent. */
export function missingFlag(
  record: Readonly<Record<string, unknown>>,
): (typeof flags)[number] | undefined {
  return flags.find((flag) => !Object.hasOwn(record, flag) || typeof record[flag] !== 'boolean');
}

/** Whether what is no record has a flag. Without any, its address may not have been verified yet. */
export function hasFlag(record: Readonly<Record<string, unknown>>): boolean {
  return flags.some((flag) => Object.hasOwn(record, flag) && record[flag] !== null);
}

/**
 * The distinct outcomes of a run, each stored once under a small number that stays valid for the table's
 * life.
 */
export class OutcomeTable {
  /**
   * An outcome is stored as its key, a short text, and parsed when needed: operators can make millions of
   * outcomes, and an object of ten cells takes several times its text.
   */
  readonly #ids = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #recentIds = new Int32Array(recentSlots).fill(-1);
  readonly #recent: Outcome[] = [];

  /** Number of distinct outcomes; their ids are 0 to `size - 1`. */
  get size(): number {
    return this.#keys.length;
  }

  idOf(verification: Exclude<Verification, 'verified'>, reason: string): number {
    const key = JSON.stringify([verification, reason]);
    return this.#ids.get(key) ?? this.#add(key);
  }

  /**
   * The id of a verified outcome, distinguished by {@link recordFields}.
   *
   * @returns -1 when the value is not a record
   */
  idOfRecord(type: VerificationType, record: Readonly<Record<string, unknown>>): number {
    // Own properties only: a prototype's were not sent.
    const values = recordFields[type].map((field) =>
      Object.hasOwn(record, field) ? outcomeValue(record[field]) : null,
    );
    const key = writeRecordKey(type, values);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    return isRecord(record) ? this.#add(key) : -1;
  }

  /**
   * The id of an outcome by its key in a table's form; the caller has checked that the record's flags are
   * booleans.
   */
  idOfKey(key: string): number {
    return this.#ids.get(key) ?? this.#add(key);
  }

  withOrigin(id: number, { verifiedAt, source, batchUuid }: Origin): number {
    const key = `${this.keyOf(id)}\n${JSON.stringify([verifiedAt, source, batchUuid])}`;
    return this.#ids.get(key) ?? this.#add(key);
  }

  /** The key of an outcome without its origin: valid in other tables, too. */
  keyOf(id: number): string {
    const key = this.#keys[id];
    if (key === undefined) throw new RangeError(`no outcome ${id} of ${this.size}`);
    const end = key.indexOf('\n');
    return end === -1 ? key : key.slice(0, end);
  }

  get(id: number): Outcome {
    const slot = id % recentSlots;
    const recent = this.#recent[slot];
    if (recent !== undefined && this.#recentIds[slot] === id) return recent;
    const key = this.#keys[id];
    if (key === undefined) throw new RangeError(`no outcome ${id} of ${this.size}`);
    const outcome = readOutcomeKey(key);
    this.#recentIds[slot] = id;
    this.#recent[slot] = outcome;
    return outcome;
  }

  #add(key: string): number {
    const id = this.#keys.length;
    this.#keys.push(key);
    this.#ids.set(key, id);
    return id;
  }
}

function outcomeValue(value: unknown): OutcomeValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return String(value);
    case 'object':
      return value === null ? null : JSON.stringify(value);
    default:
      return null;
  }
}

/** Booleans are written as digits, which no value is: that saves a third of the text. */
function writeRecordKey(type: VerificationType, values: readonly OutcomeValue[]): string {
  return JSON.stringify([
    type,
    ...values.map((value) => (typeof value === 'boolean' ? Number(value) : value)),
  ]);
}

/** Parses the key of an outcome: two JSON texts, the second its origin. */
export function readOutcomeKey(key: string): Outcome {
  const [outcome = '', written] = key.split('\n');
  const origin = written === undefined ? undefined : readOrigin(written);
  // A table wrote the key.
  const [word, ...rest] = JSON.parse(outcome) as
    | [VerificationType, ...(string | number | null)[]]
    | [Exclude<Verification, 'verified'>, string];
  if (word !== 'email' && word !== 'phone') {
    const reason = String(rest[0]);
    return { verification: word, reason, values: undefined, type: undefined, origin };
  }
  const values = rest.map((value) => (typeof value === 'number' ? value === 1 : value));
  return { verification: 'verified', reason: '', values, type: word, origin };
}

function readOrigin(written: string): Origin {
  const [verifiedAt, source, batchUuid] = JSON.parse(written) as [string, Origin['source'], string];
  return { verifiedAt, source, batchUuid };
}

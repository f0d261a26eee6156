import type { VerificationType } from '../../../src/contract/enums.js';
import {
  type ExportCounts,
  type ExportParserOptions,
  readExport,
} from '../../../src/engine/results/export-parser.js';
import { OutcomeTable, type OutcomeValue } from '../../../src/engine/results/outcome-table.js';

export interface Reading extends ExportCounts {
  /** Address and result of each record, in the export's order. */
  readonly found: readonly (readonly [string, readonly OutcomeValue[] | undefined])[];
}

/** Chunks as a body brings them; each is overwritten as soon as the next is asked for. */
export async function* bodyOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    const lent = Uint8Array.from(chunk);
    yield lent;
    lent.fill(0x21);
  }
}

/** Cuts bytes at these places; those outside and doubles are passed over. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const inside = places.map((place) => place % (bytes.length + 1));
  const edges = [...new Set([0, ...inside, bytes.length])].toSorted((a, b) => a - b);
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

export function cutEvery(bytes: Uint8Array, length: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += length) chunks.push(bytes.subarray(at, at + length));
  return chunks;
}

export async function readChunks(
  chunks: Iterable<Uint8Array>,
  options: Partial<ExportParserOptions> & { readonly type?: VerificationType } = {},
): Promise<Reading> {
  const outcomes = options.outcomes ?? new OutcomeTable();
  const found: [string, readonly OutcomeValue[] | undefined][] = [];
  const counts = await readExport(bodyOf(chunks), {
    type: 'email',
    onRecord: (address, id) => found.push([address, outcomes.get(id).values]),
    ...options,
    outcomes,
  });
  return { ...counts, found };
}

export async function readText(
  text: string,
  options: Partial<ExportParserOptions> = {},
): Promise<Reading> {
  return readChunks([Buffer.from(text)], options);
}

/** A record of an email as the specification shows it (spec 2.7). */
export function emailRecordOf(
  email: string,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    email,
    valid: true,
    wrong: false,
    unknown: false,
    quality: 'good',
    result: 'ok',
    is_syntax_error: false,
    is_free: false,
    is_role: false,
    is_disposable: false,
    is_catch_all: false,
    ...changes,
  };
}

/** The fields of {@link emailRecordOf} as an outcome holds them. */
export function emailValues(changes: Readonly<Record<string, OutcomeValue>> = {}): OutcomeValue[] {
  return Object.values({ ...emailRecordOf(''), ...changes }).slice(1) as OutcomeValue[];
}

/** What every export that cannot be used is refused with. */
export const brokenExport = {
  name: 'ContractError',
  code: 'broken_contract',
  retryable: true,
  operation: 'exportBatch',
};

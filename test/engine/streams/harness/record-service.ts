import { Readable } from 'node:stream';
import type { VerificationType } from '../../../../src/contract/enums.js';
import { FakeService, type FakeServiceOptions } from '../../driver/fake-service.js';

/** The record that the service in memory has for an address: the same whenever it is asked. */
export function recordOf(
  type: VerificationType,
  address: string,
): Readonly<Record<string, string | boolean | null>> {
  let sum = 0;
  for (const character of address) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  const flags = { valid: sum % 3 === 0, wrong: sum % 3 === 1, unknown: sum % 3 === 2 };
  if (type === 'email') {
    return {
      email: address,
      ...flags,
      quality: ['good', 'bad', 'risky', 'unknown'][sum % 4] ?? '',
      result: ['ok', 'invalid'][sum % 2] ?? '',
      is_syntax_error: sum % 5 === 0,
      is_free: sum % 7 === 0,
      is_role: sum % 11 === 0,
      is_disposable: sum % 13 === 0,
      is_catch_all: sum % 17 === 0,
    };
  }
  return {
    phone: address,
    ...flags,
    type: ['mobile', 'fixed_line'][sum % 2] ?? '',
    status: ['active', 'inactive'][sum % 2] ?? '',
    is_syntax_error: sum % 5 === 0,
    is_ported: sum % 7 === 0,
    current_network_mcc: sum % 2 === 0 ? '310' : null,
    current_network_mnc: sum % 2 === 0 ? '15' : null,
    operator: sum % 2 === 0 ? `Operator ${sum % 9}` : null,
  };
}

export interface RecordServiceOptions extends FakeServiceOptions {
  /** Addresses that the export leaves out. */
  readonly hasNoRecord?: (address: string) => boolean;
}

/** The service in memory with whole records in its exports. */
export class RecordService extends FakeService {
  constructor(options: RecordServiceOptions = {}) {
    super(options);
    const serve = this.exportBatch;
    this.exportBatch = async (uuid, query, callOptions) => {
      const answer = await serve(uuid, query, callOptions);
      const { type, lines } = this.batches.get(uuid) ?? { type: 'email', lines: [] };
      const kept = lines.filter((line) => options.hasNoRecord?.(line) !== true);
      const members = kept.map((line) => [line, recordOf(type, line)] as const);
      const json = Buffer.from(JSON.stringify(Object.fromEntries(members)));
      return { ...answer, body: Readable.from(slices(json)) };
    };
  }
}

/** Pieces that end anywhere, as they do on the wire. */
function* slices(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 4093) yield bytes.subarray(from, from + 4093);
}

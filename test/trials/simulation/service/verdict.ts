import type { VerificationType } from '../../../../src/contract/enums.js';
import { hashOf } from '../random.js';

/** What the service says of an address: always the same of the same, however it is written. */
export function verdictOf(
  type: VerificationType,
  line: string,
): Readonly<Record<string, string | boolean | null>> {
  const hash = hashOf(`${type} ${line.toLowerCase()}`);
  const bit = (index: number): boolean => ((hash >>> index) & 1) === 1;
  const flags = { valid: hash % 3 === 0, wrong: hash % 3 === 1, unknown: hash % 3 === 2 };
  if (type === 'email') {
    return {
      email: line,
      ...flags,
      quality: ['good', 'bad', 'risky', 'unknown'][(hash >>> 4) & 3] ?? '',
      result: ['ok', 'invalid', 'error', 'unknown'][(hash >>> 6) & 3] ?? '',
      is_syntax_error: bit(8),
      is_free: bit(9),
      is_role: bit(10),
      is_disposable: bit(11),
      is_catch_all: bit(12),
    };
  }
  return {
    phone: line,
    ...flags,
    type: bit(8) ? 'mobile' : 'landline',
    status: bit(9) ? 'active' : 'inactive',
    is_syntax_error: bit(10),
    is_ported: bit(11),
    operator: bit(12) ? `operator ${hash & 7}` : null,
  };
}

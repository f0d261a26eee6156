import { cachedFile } from './cached-file.js';
import { emailOf } from './people.js';
import { mix } from './random.js';

/** How the results of an export differ. */
export type ExportKind =
  /** Some dozens of distinct results, as a service gives them. */
  | 'few'
  /** Every second record has a result of its own. */
  | 'half'
  /** 20,000 distinct results: operators' names with escapes and braces. */
  | 'operators';

const qualities = ['good', 'bad', 'risky', 'unknown'];
const results = ['ok', 'invalid', 'disposable', 'catch_all', 'unknown'];

/** A record without its address, as the specification shows it (2.7), for the n-th address. */
export function recordOf(kind: ExportKind, n: number): Readonly<Record<string, unknown>> {
  if (kind === 'operators') {
    const operator = mix(n + 7) % 20_000;
    return { ...flagsOf(operator % 3), ...phoneFields(operator) };
  }
  const usual = usualRecords[mix(n + 7) % usualRecords.length] ?? {};
  return kind === 'half' && n % 2 === 0
    ? { ...usual, result: `${String(usual['result'])}_${n}` }
    : usual;
}

/** Some dozens of results, always the same objects. */
const usualRecords = Array.from({ length: 60 }, (_, at): Readonly<Record<string, unknown>> => ({
  ...flagsOf(at % 3),
  quality: qualities[at % 3],
  result: results[at % results.length],
  is_syntax_error: false,
  is_free: at % 4 < 2,
  is_role: at % 2 === 0,
  is_disposable: false,
  is_catch_all: false,
}));

function flagsOf(verdict: number): Readonly<Record<string, boolean>> {
  return { valid: verdict === 0, wrong: verdict === 1, unknown: verdict === 2 };
}

function phoneFields(operator: number): Readonly<Record<string, unknown>> {
  return {
    type: operator % 4 === 0 ? 'fixed_line' : 'mobile',
    status: 'active',
    is_syntax_error: false,
    is_ported: operator % 9 === 0,
    current_network_mcc: '310',
    current_network_mnc: String(operator % 900).padStart(3, '0'),
    operator: `T\u00e9l\u00e9com "{${operator}}" \\ [Nord]`,
  };
}

/** The type of the addresses in an export of this kind. */
export function typeOf(kind: ExportKind): 'email' | 'phone' {
  return kind === 'operators' ? 'phone' : 'email';
}

/** The n-th address of an export of this kind, as it was submitted. */
function exportedAddress(kind: ExportKind, n: number): string {
  return kind === 'operators' ? `+1212${String(2_000_000 + n)}` : emailOf(n);
}

/** A JSON export of so many records. @returns its path */
export async function exportFile(kind: ExportKind, records: number): Promise<string> {
  return cachedFile(`export-${kind}-${records}.json`, function* members() {
    for (let n = 0; n < records; n += 1) yield (n === 0 ? '{' : ',') + member(kind, n);
    yield '}';
  });
}

function member(kind: ExportKind, n: number): string {
  const key = JSON.stringify(exportedAddress(kind, n));
  return `${key}:{"${typeOf(kind)}":${key},${JSON.stringify(recordOf(kind, n)).slice(1)}`;
}

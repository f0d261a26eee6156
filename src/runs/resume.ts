import { isDeepStrictEqual } from 'node:util';
import { StateError } from '../errors/family.js';
import { defaults } from '../batches/defaults.js';
import type { PlanEntry, RunEntry } from './run-entries.js';
import type { RunOptions } from './run-options.js';

/** Those that decide only what is written, and where: what is paid for may always be written elsewhere. */
const outputOptions: ReadonlySet<string> = new Set([
  'output',
  'output-format',
  'keep',
  'keep-quality',
  'rejects',
  'part-size',
  'part-format',
]);

/** The options that decide the rows, the batches and the output, by the names users know them by. */
export function decidingOptions(options: RunOptions): RunEntry['decides'] {
  const { source, sink, email, phone, countryColumn, country, prefix, batchSize } = options;
  return JSON.parse(
    JSON.stringify({
      input: source.name,
      output: sink.name,
      email: email ?? [],
      phone: phone ?? [],
      'country-column': countryColumn ?? null,
      country: country ?? null,
      prefix: prefix ?? {},
      'batch-size': batchSize ?? defaults.batchSize,
      settings: options.settings ?? {},
      // Where they are not given the journal has no word of them: it may be an older one.
      ...(options.emailCountry !== undefined && { 'email-country': options.emailCountry }),
      ...(options.provenance === true && { provenance: true }),
      ...source.decides,
      ...sink.decides,
      ...options.decides,
    }),
  ) as RunEntry['decides'];
}

/**
 * Refuses to go on with a run that is another one.
 *
 * @throws StateError `state_mismatch`, naming what differs
 */
export function checkSameRun(
  known: RunEntry,
  given: { readonly decides: RunEntry['decides']; readonly service: string },
): void {
  const differing = differingOptions(known.decides, given.decides).filter(
    (name) => !outputOptions.has(name),
  );
  if (known.service !== given.service) differing.push('base-url');
  if (differing.length === 0) return;
  throw new StateError(
    `an unfinished run with other options is in the state directory; these differ: ${differing.join(', ')}. Give the same options to go on with it, or start over with --fresh`,
    { code: 'state_mismatch' },
  );
}

/** Whether a run that is the same otherwise writes the same output. */
export function hasSameOutput(known: RunEntry, decides: RunEntry['decides']): boolean {
  return !differingOptions(known.decides, decides).some((name) => outputOptions.has(name));
}

function differingOptions(
  known: RunEntry['decides'],
  given: RunEntry['decides'],
): readonly string[] {
  const names = new Set([...Object.keys(known), ...Object.keys(given)]);
  return [...names].filter((name) => !isDeepStrictEqual(known[name], given[name]));
}

/**
 * Refuses to go on with an input that is not the one whose addresses were sent.
 *
 * @throws StateError `state_mismatch`
 */
export function checkSamePlan(known: PlanEntry, found: PlanEntry, input: string): void {
  if (isDeepStrictEqual(asJson(known), asJson(found))) return;
  const what =
    known.rows === found.rows
      ? 'its content differs'
      : `it has ${found.rows} rows now and had ${known.rows}`;
  const header = isDeepStrictEqual(known.headers, found.headers)
    ? ''
    : `, and its header is found in line ${headerLine(found)} now and was in line ${headerLine(known)}`;
  throw new StateError(
    `${input} has changed since the unfinished run in the state directory read it: ${what}${header}. Put back what it held to go on, or start over with --fresh`,
    { code: 'state_mismatch' },
  );
}

function headerLine({ headers }: PlanEntry): string {
  return (headers ?? [1]).join(', ');
}

/** The value as it comes back from the journal. */
function asJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

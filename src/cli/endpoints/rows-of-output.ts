import { stat } from 'node:fs/promises';
import { isSluiceError, listSource } from '../../index.js';
import type { ParsedOptions } from '../command.js';
import { placeOf, pathOf, type NamedPlace } from './list-places.js';
import { filesOfOutput } from './verdict-output.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';

/**
 * How many rows the output has that is there, with the rejects beside it: what the list had at least.
 *
 * @returns `undefined` where there is none that is a file, or none that can be read
 */
export async function rowsOfOutput(
  from: readonly NamedPlace[],
  to: NamedPlace,
  options: ParsedOptions<VerifyOption>,
): Promise<number | undefined> {
  const { rejects, 'output-format': format } = options.values(verifyOptions);
  const places = [
    ...filesOfOutput(from, to, options),
    ...(rejects === undefined ? [] : [placeOf(rejects, { env: {}, cwd: '.' })]),
  ];
  let sum: number | undefined;
  for (const place of places) {
    const path = pathOf(place);
    const isFile = path !== undefined && (await stat(path).catch(() => undefined))?.isFile();
    if (!isFile) continue;
    const rows = await countRows(path, {
      header: !options.has('no-header'),
      ...(format !== undefined && { format }),
    });
    if (rows !== undefined) sum = (sum ?? 0) + rows;
  }
  return sum;
}

async function countRows(
  path: string,
  form: NonNullable<Parameters<typeof listSource>[1]>,
): Promise<number | undefined> {
  try {
    const reading = await listSource(path, form).open({ wanted: () => [] });
    let rows = 0;
    for await (const chunk of reading.chunks) rows += chunk.length;
    return rows;
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}

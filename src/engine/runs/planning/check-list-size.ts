import { InputError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/option-name.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import type { History } from '../../history/history.js';
import type { ResolvedRun } from '../options/run-options.js';

type SizeOptions = Pick<ResolvedRun, 'source' | 'limit' | 'minRows' | 'maxShrink' | 'rowsBefore'>;

/**
 * Refuses a list that has fewer rows than it should: an export that broke off must not take the place of a
 * good output. It is compared with the last run that had rows, so one empty night does not excuse the next.
 *
 * @throws InputError `input_suspect`
 */
export async function checkListSize(
  { source, limit, minRows = 0, maxShrink, rowsBefore }: SizeOptions,
  rows: number,
  history: History | undefined,
): Promise<void> {
  if (limit !== undefined) return;
  if (rows < minRows) {
    throw suspect(source.name, rows, `${optionName('minRows')} is ${grouped(minRows)}`);
  }
  if (maxShrink === undefined) return;
  const before = history?.rowsBefore(source.name) ?? (await rowsBefore?.());
  if (before === undefined || rows * 100 >= before * (100 - maxShrink)) return;
  const lost = Math.floor((100 * (before - rows)) / before);
  throw suspect(
    source.name,
    rows,
    `it had ${grouped(before)} in the run before: it has lost ${lost} %, and ${optionName('maxShrink')} allows ${maxShrink} %`,
  );
}

function suspect(name: string, rows: number, why: string): InputError {
  return new InputError(
    `${name} has ${counted(rows, 'row')}, and ${why}. Nothing was sent, and the output is untouched`,
    { code: 'input_suspect' },
  );
}

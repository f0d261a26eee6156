import { InputError } from '../../../platform/errors/errors.js';
import { optionName } from '../../../platform/text/option-name.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import type { ComparedRun } from '../options/run-options.js';
import { readIntoBatches, type PlanInputOptions, type PlannedInput } from './plan-input.js';

/**
 * Refuses a list with too few rows: a truncated export must not replace a good output. Compared with the last
 * run that had rows, so one empty night does not excuse the next.
 */
export async function checkListSize(run: ComparedRun, rows: number): Promise<void> {
  const why = await whyTooFew(run, rows);
  if (why !== undefined) {
    throw suspect(`${run.source.name} has ${counted(rows, 'row')}, and ${why}`);
  }
}

/** Reads a list. Without even a header it has no rows: too few, where a minimum is given. */
export async function readSized(options: PlanInputOptions): Promise<PlannedInput> {
  try {
    return await readIntoBatches(options);
  } catch (error) {
    const isEmpty = error instanceof InputError && error.isEmpty;
    const why = isEmpty ? await whyTooFew(options, 0) : undefined;
    throw why === undefined ? error : suspect(`${(error as InputError).message}; ${why}`);
  }
}

async function whyTooFew(
  { source, limit, minRows = 0, maxShrink, rowsBefore, history }: ComparedRun,
  rows: number,
): Promise<string | undefined> {
  if (limit !== undefined) return undefined;
  if (rows < minRows) return `${optionName('minRows')} is ${grouped(minRows)}`;
  if (maxShrink === undefined) return undefined;
  const before = history?.rowsBefore(source) ?? (await rowsBefore?.());
  if (before === undefined || rows * 100 >= before * (100 - maxShrink)) return undefined;
  const lost = Math.floor((100 * (before - rows)) / before);
  return `it had ${grouped(before)} in the run before: it has lost ${lost} %, and ${optionName('maxShrink')} allows ${maxShrink} %`;
}

function suspect(what: string): InputError {
  return new InputError(`${what}. Nothing was sent, and the output is untouched`, {
    code: 'input_suspect',
  });
}

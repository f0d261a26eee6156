import {
  ConfigurationError,
  OutputError,
  type Estimate,
  type FilePermissions,
  type Summary,
} from '../index.js';
import { writeOutputFile } from '../output-files/output-file.js';
import { checkOutputPath, isSameFile } from '../output-files/output-path.js';
import { print } from './print.js';
import { printable } from './printable.js';

/** What stands for standard input and standard output. */
export const standard = '-';

/**
 * Says early that the summary would take the place of the input or the output, or has no folder. What
 * is in a database has no path.
 *
 * @throws ConfigurationError, OutputError
 */
export async function checkSummaryPath(
  summary: string | undefined,
  {
    inputs,
    output,
  }: { readonly inputs: readonly (string | undefined)[]; readonly output: string | undefined },
): Promise<void> {
  if (summary === undefined) return;
  if (summary === standard) {
    if (output !== standard) return;
    throw new ConfigurationError(
      '--summary - and the output cannot both be standard output: give the output a file with -o',
    );
  }
  await checkOutputPath(summary);
  let isInput = false;
  for (const input of inputs.filter(isFile)) isInput ||= await isSameFile(summary, input);
  const isOutput = isFile(output) && (await isSameFile(summary, output));
  if (!isInput && !isOutput) return;
  throw new ConfigurationError(
    `--summary ${summary} is the ${isInput ? 'input' : 'output'}: give the summary another name`,
  );
}

function isFile(path: string | undefined): path is string {
  return path !== undefined && path !== standard;
}

/** Writes a run's figures as JSON to a file, or to standard output. @throws OutputError */
export async function writeSummary(
  summary: Summary | Estimate,
  path: string,
  noMoreOpenThan?: FilePermissions,
): Promise<void> {
  const json = printable(`${JSON.stringify(summary, undefined, 2)}\n`);
  if (path === standard) {
    await print(json);
    return;
  }
  try {
    await writeOutputFile(path, [Buffer.from(json)], { noMoreOpenThan });
  } catch (error) {
    throw new OutputError(`the output is written, but not the summary ${path}`, { cause: error });
  }
}

import { mkdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError, OutputError } from '../../../platform/errors/errors.js';
import { checkOptions, checkValue, type OptionShape } from '../../../platform/check-options.js';
import { aFolder, required, text } from '../../../platform/option-kinds.js';
import { checkOutputPath } from '../../../lists/files/outputs/output-path.js';
import { worstVerdict, verdicts, type Verdict } from '../../results/outcome-table.js';
import { aSink } from '../../../lists/rows/guarded-ends.js';
import { type Sink, OutcomeForms } from '../../../lists/rows/sink.js';
import { describeSystemError } from '../../../platform/text/system-errors.js';
import { formatOfPath } from '../../../lists/files/file-format.js';
import { fileSink, type FileSinkOptions } from '../../../lists/files/file-sink.js';
import { holdFolder } from '../../../lists/files/partitions/parts-folder.js';
import { routeSink } from '../../../lists/files/partitions/partition-sink.js';
import { isEmptyCell, verdictOfCells } from './split-sink.js';
import { optionName } from '../../../platform/text/sentence.js';

type VerdictSinks = Readonly<Record<Verdict, Sink>>;

const sinksShape: OptionShape<VerdictSinks> = {
  valid: required(aSink),
  wrong: required(aSink),
  unknown: required(aSink),
  none: required(aSink),
};

/** The order of finishing: the valid rows appear last. */
const order = ['none', 'unknown', 'wrong', 'valid'] as const satisfies readonly Verdict[];

/**
 * An output for each verdict: every row is in exactly one. The worst verdict of a row's columns counts:
 * wrong, unknown, none, valid. Empty cells count only where all are.
 *
 * @param name their common name in messages
 *
 * @example
 * ```ts
 * const sink = verdictSink('lists by verdict', {
 *   valid: fileSink('valid.csv'),
 *   wrong: fileSink('wrong.csv'),
 *   unknown: fileSink('unknown.csv'),
 *   none: fileSink('none.csv'),
 * });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function verdictSink(name: string, outputs: VerdictSinks): Sink {
  checkOptions(outputs, sinksShape, 'outputs');
  let validElsewhere: number[] = [];
  const sink = routeSink({
    name,
    decides: { ...outputs.valid.decides, 'split-by': 'verdict' },
    sinks: order.map((verdict) => outputs[verdict]),
    createRoute(opening) {
      const known = new OutcomeForms(opening.whole ?? opening, (cells) =>
        isEmptyCell(cells) ? undefined : verdictOfCells(cells),
      );
      const width = opening.added.length;
      const row: (Verdict | undefined)[] = [];
      const counts = opening.added.map(() => 0);
      validElsewhere = counts;
      return (outcomes, first) => {
        for (let column = 0; column < width; column += 1) {
          row[column] = known.of(column, outcomes[first + column]);
        }
        const worst = worstVerdict(row);
        for (let column = 0; column < width && worst !== 'valid'; column += 1) {
          if (row[column] === 'valid') counts[column] = (counts[column] ?? 0) + 1;
        }
        return order.indexOf(worst);
      };
    },
  });
  return { ...sink, validLeftOut: () => validElsewhere };
}

/**
 * The same as files in a folder, created when missing: `valid.csv`, `wrong.csv`, `unknown.csv` and
 * `none.csv`. Each appears complete, by rename, or not at all; a verdict without rows gets a file without
 * rows. Other files in the folder stay.
 *
 * `ending` of their names, such as `csv` or `jsonl.gz`, gives their format.
 *
 * @throws ConfigurationError `invalid_option`
 *
 * @example
 * ```ts
 * const sink = verdictFolder('verified', { ending: 'csv' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function verdictFolder(
  path: string,
  { ending, ...options }: Omit<FileSinkOptions, 'namedAs'> & { readonly ending: string },
): Sink {
  checkValue('path', path, aFolder);
  checkValue('ending', ending, text);
  const sinkOf = (verdict: Verdict): readonly [Verdict, Sink] => [
    verdict,
    fileSink(join(path, `${verdict}.${ending}`), options),
  ];
  const sink = verdictSink(path, Object.fromEntries(verdicts.map(sinkOf)) as VerdictSinks);
  return {
    ...sink,
    async check(verifiedColumns) {
      if (await isFolder(path)) return sink.check(verifiedColumns);
      const { format, other } = formatOfPath(path);
      if (format !== undefined || other !== undefined) {
        throw new ConfigurationError(
          `${path} is named as a file, and a file for each verdict goes into a folder: name the folder, and the format of its files if need be (${optionName('sink.format')})`,
          { option: 'sink', file: path, fault: 'other_format' },
        );
      }
      // Where a file could be created, so can the folder.
      await checkOutputPath(join(path, '.'));
    },
    // Its files exist only with the folder.
    hold: async (patience) => holdFolder(path, patience),
    mayBeginEarly: async () => !(await isFolder(path)) || (await sink.mayBeginEarly?.()) === true,
    async open(opening) {
      const isNew = !(await isFolder(path));
      // Not the parent folders: they existed at the check, and a disk may have gone since.
      if (isNew) {
        await mkdir(path).catch((cause: unknown) => {
          throw new OutputError(`cannot make the folder ${path}: ${describeSystemError(cause)}`, {
            cause,
          });
        });
      }
      // Only an empty folder is removed.
      const unmake = async (): Promise<void> => {
        if (isNew) await rmdir(path).catch(() => undefined);
      };
      const writing = await sink.open(opening).catch(async (error: unknown) => {
        await unmake();
        throw error;
      });
      return {
        ...writing,
        async abort() {
          await writing.abort();
          await unmake();
        },
      };
    },
  };
}

/** @throws ConfigurationError where a file is in its place */
async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === false) {
    throw new ConfigurationError(
      `cannot write ${path}: it is a file, and a file for each verdict goes into a folder`,
      { option: 'sink', file: path, fault: 'exists' },
    );
  }
  return found !== undefined;
}

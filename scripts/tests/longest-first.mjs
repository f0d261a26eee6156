import { BaseSequencer } from 'vitest/node';

/** Small files of long work: begun last, as their size has it, each would be waited for alone. */
const long = [
  'test/engine/stores/postgres/shared/workers',
  'test/engine/stores/postgres/shared/shared-',
  'test/lists/sql/duckdb/',
  'test/cli/package/examples.',
  'test/expressions/proof',
  'test/trials/simulation/',
  'test/cli/process/stream-leaks',
  'test/docs/made/tables.',
  'test/engine/history/',
  'test/service/operations/deleted-while-read.',
  'test/engine/stores/run-store.',
];

/**
 * The order of files in a run: suite by suite, of each those of long work first, then by size. The suite that
 * is begun last is the one of the most and the smallest files: they end at about the same time.
 */
export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const rank = ({ project, moduleId }) => {
      const at = long.findIndex((part) => moduleId.includes(part));
      return [project.name === 'e2e' ? 1 : 0, project.name, at < 0 ? long.length : at];
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- of Vitest, not of an array
    const bySize = await super.sort(files);
    return bySize
      .map((file) => ({ file, rank: rank(file) }))
      .toSorted((a, b) => compare(a.rank, b.rank))
      .map(({ file }) => file);
  }
}

function compare(a, b) {
  const at = a.findIndex((value, index) => value !== b[index]);
  if (at < 0) return 0;
  return a[at] < b[at] ? -1 : 1;
}

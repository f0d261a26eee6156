import { contactsFile } from './data/contacts.js';
import { countRows } from './harness/count-rows.js';
import type { Figure, Medians, Question, Scale, Task } from './harness/question.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash } from './reference/expected-output.js';
import { localEmailColumn } from './reference/local-service-results.js';

/** How many rows a list has; all are different. */
type RowsOf = (scale: Scale) => number;

const places = [0, 1, 2, 3] as const;
const rowsAt =
  (place: (typeof places)[number]): RowsOf =>
  ({ listSizes: sizes }) =>
    sizes[place];
const largest: RowsOf = ({ largestList }) => largestList;

const input = async (rows: number): Promise<string> => contactsFile({ rows, unique: rows });

/** Lists of ever more rows: what the plot shows. */
export const listSizes: Question = {
  asks: 'How do time, memory and disk grow with the rows of a list?',
  rounds: 1,
  async prepare(scale) {
    for (const place of places) await input(rowsAt(place)(scale));
  },
  tasks: Object.assign(
    {},
    ...places.map((place) => tasksFor(`list ${place}`, rowsAt(place))),
  ) as Question['tasks'],
  figures: (median, scale) => figuresOf('list 3', median, rowsAt(3)(scale)),
};

/** A list as large as the disk of most machines bears. */
export const largestList: Question = {
  asks: 'What does a very large list take as a whole?',
  rounds: 1,
  async prepare(scale) {
    await input(largest(scale));
  },
  tasks: tasksFor('largest', largest),
  figures: (median, scale) => figuresOf('largest', median, largest(scale)),
};

function tasksFor(name: string, rowsOf: RowsOf): Readonly<Record<string, Task>> {
  const checkedAs = `output of ${name}`;
  return {
    [`reference, ${name}`]: {
      checkedAs,
      isReference: true,
      async run(scale) {
        const rows = rowsOf(scale);
        const hash = await expectedOutputHash(await input(rows), [localEmailColumn]);
        return { check: `${rows} ${hash}`, values: {} };
      },
    },
    [name]: {
      checkedAs,
      async run(scale) {
        const rows = rowsOf(scale);
        const run = await verifyFile(await input(rows), ['--email', 'email']);
        const { check, seconds, peakBytes, diskBytes } = run;
        return { check, values: { rows, seconds, peakBytes, diskBytes } };
      },
    },
  };
}

function figuresOf(name: string, median: Medians, rows: number): readonly Figure[] {
  return [
    {
      what: `the whole \`sluice verify\` of ${countRows(rows)} unique addresses: time`,
      against: '',
      value: median(name, 'seconds'),
      unit: 'seconds',
    },
    {
      what: 'its peak memory',
      against: '',
      value: median(name, 'peakBytes') / 1024 / 1024,
      unit: 'MiB',
    },
    {
      what: 'the most its state directory took on disk',
      against: '',
      value: median(name, 'diskBytes') / 1_000_000,
      unit: 'MB',
    },
  ];
}

import { contactsFile } from './data/contacts.js';
import { countRows } from './harness/count-rows.js';
import type { Figure, Medians, Question, Scale, Target, Task } from './harness/question.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash } from './reference/expected-output.js';
import { localEmailColumn } from './reference/local-service-results.js';

const places = [0, 1, 2, 3, 4] as const;
type Place = (typeof places)[number];

/** The places of the lists of two million, ten million and forty million. */
const [twoMillion, tenMillion, largest] = [2, 3, 4] as const;

const input = async ({ listSizes: sizes }: Scale, place: Place): Promise<string> =>
  contactsFile({ rows: sizes[place], unique: sizes[place] });

/** Lists of ever more rows, all of them different: what the plot shows. */
export const listSizes: Question = {
  asks: 'How do time, memory and disk grow with the rows of a list?',
  rounds: 1,
  async prepare(scale) {
    for (const place of places) await input(scale, place);
  },
  tasks: Object.assign({}, ...places.map(tasksFor)) as Question['tasks'],
  figures: (median, scale) => [
    ...figuresOf(median, scale, tenMillion),
    ...figuresOf(median, scale, largest, { bound: 'at most', value: 400, aim: 320 }),
    {
      what: 'its time a row',
      against: `the list of ${countRows(scale.listSizes[twoMillion])}`,
      value: growth(median, scale, 'seconds'),
      unit: 'times as long',
    },
    {
      what: 'its processor time a row',
      against: `the list of ${countRows(scale.listSizes[twoMillion])}`,
      value: growth(median, scale, 'cpuSeconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.3, aim: 1.15 },
    },
  ],
};

function tasksFor(place: Place): Readonly<Record<string, Task>> {
  const name = `list ${place}`;
  const checkedAs = `output of ${name}`;
  return {
    [`reference, ${name}`]: {
      checkedAs,
      isReference: true,
      async run(scale) {
        const hash = await expectedOutputHash(await input(scale, place), [localEmailColumn]);
        return { check: `${scale.listSizes[place]} ${hash}`, values: {} };
      },
    },
    [name]: {
      checkedAs,
      async run(scale) {
        const run = await verifyFile(await input(scale, place), ['--email', 'email']);
        const { check, seconds, cpuSeconds, peakBytes, diskBytes } = run;
        const rows = scale.listSizes[place];
        return { check, values: { rows, seconds, cpuSeconds, peakBytes, diskBytes } };
      },
    },
  };
}

/** How many times what a row of the list of two million takes is taken by one of the largest. */
function growth(median: Medians, { listSizes: sizes }: Scale, value: string): number {
  const aRow = (place: Place): number => median(`list ${place}`, value) / sizes[place];
  return aRow(largest) / aRow(twoMillion);
}

function figuresOf(
  median: Medians,
  { listSizes: sizes }: Scale,
  place: Place,
  memory?: Target,
): readonly Figure[] {
  const name = `list ${place}`;
  return [
    {
      what: `the whole \`sluice verify\` of ${countRows(sizes[place])} unique addresses: time`,
      against: '',
      value: median(name, 'seconds'),
      unit: 'seconds',
    },
    {
      what: 'its peak memory',
      against: '',
      value: median(name, 'peakBytes') / 1024 / 1024,
      unit: 'MiB',
      ...(memory && { target: memory }),
    },
    {
      what: 'the most its state directory took on disk',
      against: '',
      value: median(name, 'diskBytes') / 1_000_000,
      unit: 'MB',
    },
  ];
}

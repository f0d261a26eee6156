import { contactsFile } from './data/contacts.js';
import { countRows } from './harness/count-rows.js';
import type { Figure, Medians, Question, Scale, Task } from './harness/question.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash } from './reference/expected-output.js';
import { localEmailColumn } from './reference/local-service-results.js';

const places = [0, 1, 2, 3, 4] as const;
type Place = (typeof places)[number];

const rowsAt = (place: Place, { listSizes }: Scale): number => listSizes[place];
const input = async (rows: number): Promise<string> => contactsFile({ rows, unique: rows });

/** Lists of ever more rows, all different: what the plot shows. */
export const listSizes: Question = {
  asks: 'How do time, memory and disk grow with the rows of a list?',
  rounds: 1,
  async prepare(scale) {
    for (const place of places) await input(rowsAt(place, scale));
  },
  tasks: Object.fromEntries(
    places.flatMap((place) => [
      [`reference ${place}`, reference(place)],
      [`list ${place}`, verifying(place)],
    ]),
  ),
  figures: (median, scale) => [...figuresAt(3, median, scale), ...figuresAt(4, median, scale)],
};

function reference(place: Place): Task {
  return {
    checkedAs: `output ${place}`,
    isReference: true,
    async run(scale) {
      const rows = rowsAt(place, scale);
      const hash = await expectedOutputHash(await input(rows), [localEmailColumn]);
      return { check: `${rows} ${hash}`, values: {} };
    },
  };
}

function verifying(place: Place): Task {
  return {
    checkedAs: `output ${place}`,
    async run(scale) {
      const rows = rowsAt(place, scale);
      const run = await verifyFile(await input(rows), ['--email', 'email']);
      const { check, seconds, peakBytes, diskBytes } = run;
      return { check, values: { rows, seconds, peakBytes, diskBytes } };
    },
  };
}

function figuresAt(place: Place, median: Medians, scale: Scale): readonly Figure[] {
  const name = `list ${place}`;
  const rows = countRows(rowsAt(place, scale));
  return [
    {
      what: `the whole \`sluice verify\` of ${rows} unique addresses: time`,
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

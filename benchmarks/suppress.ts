import { cachedFile } from './data/cached-file.js';
import { contactsFile } from './data/contacts.js';
import { emailOf } from './data/people.js';
import { countRows } from './harness/count-rows.js';
import type { Question, Scale, Task } from './harness/question.js';
import { verifyFile } from './harness/verify-command.js';
import { expectedOutputHash } from './reference/expected-output.js';
import { localEmailColumn } from './reference/local-service-results.js';

const input = async ({ rows }: Scale): Promise<string> => contactsFile({ rows, unique: rows });

/** As many addresses as the list has, and none of them in it: each row is verified as without them. */
const unsubscribed = async ({ rows }: Scale): Promise<string> =>
  cachedFile(`unsubscribed-${rows}.csv`, function* () {
    yield 'email\n';
    for (let n = rows; n < 2 * rows; n += 1) yield `${emailOf(n)}\n`;
  });

export const suppress: Question = {
  asks: 'What does a list of `--suppress` cost?',
  rounds: 3,
  async prepare(scale) {
    await input(scale);
    await unsubscribed(scale);
  },
  tasks: {
    reference: {
      checkedAs: 'output',
      isReference: true,
      run: async (scale) => ({
        check: `${scale.rows} ${await expectedOutputHash(await input(scale), [localEmailColumn])}`,
        values: {},
      }),
    },
    suppressed: verifying('output', input, async (scale) => [
      '--suppress',
      await unsubscribed(scale),
    ]),
    list: verifying('output', input),
    'the other list': verifying('the other list', unsubscribed),
  },
  figures: (median, scale) => [
    {
      what: `${countRows(scale.rows)} rows with a \`--suppress\` list of as many lines: processor time`,
      against: 'both lists verified',
      value:
        median('suppressed', 'cpuSeconds') /
        (median('list', 'cpuSeconds') + median('the other list', 'cpuSeconds')),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.15, aim: 1.05 },
    },
    {
      what: 'its peak memory',
      against: 'the list without it',
      value: median('suppressed', 'peakBytes') / median('list', 'peakBytes'),
      unit: 'times',
    },
  ],
};

function verifying(
  checkedAs: string,
  list: (scale: Scale) => Promise<string>,
  more: (scale: Scale) => Promise<readonly string[]> = async () => [],
): Task {
  return {
    checkedAs,
    async run(scale) {
      const { check, cpuSeconds, peakBytes } = await verifyFile(await list(scale), [
        '--email',
        'email',
        ...(await more(scale)),
      ]);
      return { check, values: { cpuSeconds, peakBytes } };
    },
  };
}

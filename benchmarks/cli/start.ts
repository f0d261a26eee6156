import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure, Question } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { sluiceCommand } from '../harness/sluice-command.js';

/** Each is over in a moment: what one pair shows is the machine's mood. */
const pairs = 15;
const program = fileURLToPath(sluiceCommand);

interface Times {
  readonly wall: number;
  readonly cpu: number;
}

/** Runs Node to its end. @throws Error when it fails */
function timesOf(folder: string, args: readonly string[]): Times {
  const { SLUICE_BASE_URL: _url, SLUICE_API_KEY: _key, ...env } = process.env;
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT="%R %U %S"; time "$@"', 'bash', process.execPath, ...args],
    { cwd: folder, env, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${String(status)}\n${stderr}`);
  const lines = stderr.trim().split('\n');
  const [wall = 0, user = 0, system = 0] = (lines.at(-1) ?? '').split(' ').map(Number);
  return { wall, cpu: user + system };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** What the command takes before and beside its work, in pairs with a Node that does nothing. */
export const start: Question = {
  asks: 'How long does the command take to start?',
  rounds: 1,
  prepare: async () => Promise.resolve(),
  tasks: {
    pairs: {
      checkedAs: 'pairs',
      run: async ({ name }) =>
        withScratch(async (folder) => {
          await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
          const output = join(folder, 'out.csv');
          const list = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', output];
          const ratios = { versionWall: [], versionCpu: [], listWall: [], listCpu: [] } as {
            [name: string]: number[];
          };
          for (let pair = 0; pair < (name === 'full' ? pairs : 1); pair += 1) {
            await rm(output, { force: true });
            const node = timesOf(folder, ['-e', '0']);
            const version = timesOf(folder, [program, '--version']);
            const row = timesOf(folder, [program, ...list]);
            ratios['versionWall']?.push(version.wall / node.wall);
            ratios['versionCpu']?.push(version.cpu / node.cpu);
            ratios['listWall']?.push(row.wall / node.wall);
            ratios['listCpu']?.push(row.cpu / node.cpu);
          }
          const [, row = ''] = (await readFile(output, 'utf8')).split('\n');
          if (!row.startsWith('good@sluice.test,verified,,true,'))
            throw new Error(`the row is ${row}`);
          const values = Object.entries(ratios).map(([key, all]) => [key, median(all)] as const);
          return { check: row, values: Object.fromEntries(values) };
        }),
    },
  },
  figures: (of) => [
    figure('`sluice --version`: wall time', of('pairs', 'versionWall'), { most: 2.5, aim: 1.5 }),
    figure('its processor time', of('pairs', 'versionCpu'), { most: 2.5, aim: 1.5 }),
    figure('a list of one row, local service: wall time', of('pairs', 'listWall'), {
      most: 6,
      aim: 4,
    }),
    figure('its processor time', of('pairs', 'listCpu'), { most: 6, aim: 4 }),
  ],
};

function figure(
  what: string,
  value: number,
  { most, aim }: { readonly most: number; readonly aim: number },
): Figure {
  const target = { bound: 'at most', value: most, aim } as const;
  return { what, against: '`node -e 0`', value, unit: 'times as long', target };
}

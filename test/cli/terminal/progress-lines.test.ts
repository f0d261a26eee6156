import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  progressLines,
  type ProgressForm,
  progressForm,
  progressMode,
} from '../../../src/cli/terminal/progress-lines.js';
import { RunFigures } from '../../../src/cli/terminal/run-figures.js';
import { ApiError } from '../../../src/platform/errors/service-errors.js';
import { duration, rate } from '../../../src/platform/text/shown-numbers.js';
import { ParsedOptions } from '../../../src/cli/command.js';
import { batchProgress, life } from './batch-life.js';

const plain: ProgressForm = { columns: 80, hasColour: false, isUnicode: false };

const silent = { state: 'waiting', error: undefined, leftMs: undefined } as const;

const tooMany = new ApiError('credits: the service answered 429', {
  code: 'too_many_requests',
  operation: 'credits',
  status: 429,
});

function halfVerified(): RunFigures {
  const figures = new RunFigures();
  figures.note({ stage: 'reading', rows: 10, addresses: 10 }, 0);
  figures.note({ stage: 'read', rows: 3000, addresses: 400, toSend: 400, batches: 4 }, 1000);
  for (const id of [0, 1]) for (const state of life) figures.note(batchProgress(id, state), 2000);
  for (const state of life.slice(0, 6)) figures.note(batchProgress(2, state), 2000);
  return figures;
}

describe('the lines of a run', () => {
  it('show how far all is with one bar and one time, then rows, batches, results and credits', () => {
    expect(progressLines(halfVerified(), plain, 12_000)).toEqual([
      // As long again for the other two, and a second to write what took a second to read.
      '  progress  ###############...............  51 %  12 s, about 11 s left',
      '  rows      3,000 read',
      '  batches   2 of 4 done, 1 verifying',
      '  results   200 of 400 addresses, 20/s',
      '  credits   at most 300 email',
    ]);
  });

  it('say that the service keeps them waiting, and tell neither rate nor time left until it answers', () => {
    const figures = halfVerified();
    figures.noteOutage({ ...silent, forMs: 0 }, 12_000);
    const [progress, , , results] = progressLines(figures, plain, 12_000);
    expect(progress).toMatch(/^ {2}progress {2}#{15}\.{15} {2}51 % {2}12 s, \D+$/);
    expect(results).toBe('  results   200 of 400 addresses');
    figures.noteOutage({ state: 'over', forMs: 0 }, 12_000);
    expect(progressLines(figures, plain, 12_000)).toEqual(
      progressLines(halfVerified(), plain, 12_000),
    );
  });

  it('leave waits out of the rate and of the time left', () => {
    const figures = halfVerified();
    figures.noteOutage({ ...silent, forMs: 4000 }, 16_000);
    figures.noteOutage({ state: 'over', forMs: 60_000 }, 72_000);
    const [progress, , , results] = progressLines(figures, plain, 72_000);
    expect(progress).toBe(
      `  progress  ###############...............  51 %  ${duration(72)}, about 11 s left`,
    );
    expect(results).toBe('  results   200 of 400 addresses, 20/s');
  });

  it.each([
    ['its headers', { ...silent, pausedMs: 26_000 }],
    ['an answer of 429', { ...silent, error: tooMany, leftMs: 600_000 }],
  ])('count the time in which a limit of requests lets nothing through: by %s', (_, limited) => {
    const figures = halfVerified();
    figures.noteOutage({ ...limited, forMs: 4000 }, 16_000);
    expect(figures.isWaiting).toBe(true);
    figures.noteOutage({ state: 'over', forMs: 30_000 }, 42_000);
    expect(figures.rate('exporting', 'uploading', 42_000)).toBe(200 / 40);
    expect(figures.time(42_000).leftMs).toBe(41_000);
  });

  it('never take back the most that the launched credits may be', () => {
    const figures = new RunFigures();
    const charge = { spent: 50, refunded: 12.5, net: 37.5 };
    for (const state of life) figures.note(batchProgress(0, state, charge), 0);
    const most = expect.stringMatching(/^ {2}credits {3}at most 100 email, 62\.5 /) as string;
    expect(progressLines(figures, plain, 0)).toContainEqual(most);
    const narrow = progressLines(figures, { ...plain, columns: 50 }, 0);
    expect(narrow.slice(-2)).toEqual([most, expect.stringMatching(/^ {12}[a-z]/)]);
  });

  it('tell the rate of results from the first upload on: they come at the end of their batches', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'read', rows: 400, addresses: 400, toSend: 400, batches: 4 }, 0);
    for (const state of life.slice(0, -1)) figures.note(batchProgress(0, state), 0);
    for (const state of life) figures.note(batchProgress(0, state), 10_000);
    expect(progressLines(figures, plain, 12_000)).toContain(
      '  results   100 of 400 addresses, 8.3/s',
    );
  });

  it('come as there is something to say in them', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'reading', rows: 0, addresses: 0 }, 0);
    figures.note({ stage: 'reading', rows: 3000, addresses: 10 }, 1000);
    expect(progressLines(figures, plain, 2000)).toEqual([
      '  progress  2 s',
      '  rows      3,000 read, 1,500/s',
    ]);
    figures.note({ stage: 'read', rows: 4000, addresses: 400, toSend: 400, batches: 4 }, 3000);
    for (const state of life.slice(0, 1)) figures.note(batchProgress(0, state), 3000);
    expect(progressLines(figures, plain, 4000).slice(1)).toEqual([
      '  rows      4,000 read',
      '  batches   0 of 4 done, 1 uploading',
    ]);
    for (const id of [0, 1, 2, 3]) {
      for (const state of life) figures.note(batchProgress(id, state), 4000);
    }
    figures.note({ stage: 'writing', rows: 0 }, 5000);
    figures.note({ stage: 'writing', rows: 1000 }, 6000);
    expect(progressLines(figures, plain, 6000).slice(0, 3)).toEqual([
      '  progress  ############################..  96 %  6 s, about 3 s left',
      '  rows      1,000 of 4,000 written, 1,000/s',
      '  batches   4 of 4 done',
    ]);
  });

  it('say 100 % only when nothing is left to do', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'reading', rows: 0, addresses: 0 }, 0);
    figures.note({ stage: 'read', rows: 4000, addresses: 100, toSend: 100, batches: 1 }, 1000);
    for (const state of life) figures.note(batchProgress(0, state), 2000);
    figures.note({ stage: 'writing', rows: 0 }, 3000);
    figures.note({ stage: 'writing', rows: 4000 }, 4000);
    expect(progressLines(figures, plain, 5000)[0]).toBe(
      '  progress  #############################.  99 %  5 s',
    );
    figures.note({ stage: 'written', rows: 4000 }, 6000);
    expect(progressLines(figures, plain, 6000)[0]).toBe(
      '  progress  ############################## 100 %  6 s',
    );
  });

  it('have a bar of thirty at most, and none where there is no room', () => {
    const [wide = ''] = progressLines(halfVerified(), { ...plain, columns: 200 }, 12_000);
    expect(wide).toContain(` ${'#'.repeat(15)}${'.'.repeat(15)}  51 %  12 s`);
    const [narrow] = progressLines(halfVerified(), { ...plain, columns: 42 }, 12_000);
    expect(narrow).toBe('  progress  51 %  12 s, about 11 s left');
  });

  it('have colours that do not change their text', () => {
    const coloured = progressLines(halfVerified(), { ...plain, hasColour: true }, 12_000);
    expect(coloured[4]?.startsWith('\u001b[2m')).toBe(true);
    // oxlint-disable-next-line no-control-regex
    const bare = coloured.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
    expect(bare).toEqual(progressLines(halfVerified(), plain, 12_000));
  });

  it('are never as wide as the terminal, however narrow it is and however large the numbers', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 250 }),
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        (columns, rows, nowMs, isUnicode) => {
          const figures = new RunFigures();
          figures.note({ stage: 'read', rows, addresses: rows, toSend: rows, batches: 1 }, 0);
          for (const state of life) figures.note(batchProgress(0, state), 0);
          figures.note({ stage: 'writing', rows: Math.floor(rows / 2) }, 0);
          const form = { columns, isUnicode, hasColour: false };
          for (const line of progressLines(figures, form, nowMs)) {
            expect(line.length).toBeLessThan(columns);
          }
        },
      ),
    );
  });
});

describe('how progress is shown', () => {
  const options = (...names: string[]): ParsedOptions =>
    new ParsedOptions(new Map(names.map((name) => [name, [true] as const])));
  const terminal = { env: { TERM: 'xterm' }, isTerminal: true, isOutputOnTerminal: false };

  it.each([
    ['live on a terminal', options(), terminal, 'live'],
    ['in lines where no terminal is', options(), { ...terminal, isTerminal: false }, 'lines'],
    [
      'in lines where rows come out, too',
      options(),
      { ...terminal, isOutputOnTerminal: true },
      'lines',
    ],
    ['in lines on a dumb one', options(), { ...terminal, env: { TERM: 'dumb' } }, 'lines'],
    ['not at all with --no-progress', options('no-progress'), terminal, 'none'],
    ['not at all with --quiet', options('quiet'), terminal, 'none'],
  ])('is %s', (_, given, surroundings, mode) => {
    expect(progressMode(given, surroundings)).toBe(mode);
  });

  it('obeys NO_COLOR and the locale', () => {
    expect(progressForm({ LANG: 'en_US.UTF-8' }, 120)).toEqual({
      columns: 120,
      hasColour: true,
      isUnicode: true,
    });
    expect(progressForm({ NO_COLOR: '1', LC_ALL: 'C', LANG: 'C.UTF-8' }, undefined)).toEqual({
      columns: 80,
      hasColour: false,
      isUnicode: false,
    });
    expect(progressForm({ NO_COLOR: '' }, 80).hasColour).toBe(true);
  });

  it.each([
    [0.4, '0 s'],
    [59, '59 s'],
    [130, '2 min 10 s'],
    [180, '3 min'],
    [3599, '60 min'],
    [11_100, '3 h 05 min'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it('tells no rate of less than a second', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'reading', rows: 0, addresses: 0 }, 0);
    figures.note({ stage: 'reading', rows: 630, addresses: 10 }, 1);
    expect(progressLines(figures, plain, 999)).toContain('  rows      630 read');
  });

  it('tells slow rates apart', () => {
    expect([rate(0.25), rate(3), rate(12_345.6)]).toEqual(['0.3/s', '3.0/s', '12,346/s']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { progressLines, type ProgressForm } from '../../../src/cli/progress/progress-lines.js';
import { progressForm, progressMode } from '../../../src/cli/progress/progress-mode.js';
import { RunFigures } from '../../../src/cli/progress/run-figures.js';
import { duration, rate } from '../../../src/words/shown-numbers.js';
import { ParsedOptions } from '../../../src/cli/command.js';
import { batchProgress, life } from './batch-life.js';

const plain: ProgressForm = { columns: 80, hasColour: false, isUnicode: false };

function halfVerified(): RunFigures {
  const figures = new RunFigures();
  figures.note({ stage: 'reading', rows: 10, addresses: 10 }, 0);
  figures.note({ stage: 'read', rows: 3000, addresses: 400, toSend: 400, batches: 4 }, 1000);
  for (const id of [0, 1]) for (const known of life) figures.note(batchProgress(id, known), 2000);
  for (const known of life.slice(0, 6)) figures.note(batchProgress(2, known), 2000);
  return figures;
}

describe('the lines of a run', () => {
  it('show a stage each, with counts, rates and batches in work, and one time for all', () => {
    expect(progressLines(halfVerified(), plain, 12_000)).toEqual([
      '* read        ################                    3,000',
      '> uploading   ############....                  300/400        30/s',
      '> preparing   ############....                  300/400        30/s',
      '> verifying   ########........                  200/400        20/s 1 batch',
      '> exporting   ########........                  200/400        20/s',
      '  writing     ................',
      '  credits     300 email',
      // 10 s for 62.5 %, and a second to write what took a second to read.
      '  elapsed     12 s, about 7 s left',
    ]);
  });

  it('have a bar of forty at most', () => {
    const [, , , verifying] = progressLines(halfVerified(), { ...plain, columns: 200 }, 12_000);
    expect(verifying).toMatch(/^> verifying {3}#{20}\.{20} .* 20\/s +1 batch$/);
  });

  it('are green when over and dim before they begin, without changing their text', () => {
    const coloured = progressLines(halfVerified(), { ...plain, hasColour: true }, 12_000);
    expect(coloured[0]?.startsWith('\u001b[32m*')).toBe(true);
    expect(coloured[5]?.startsWith('\u001b[2m')).toBe(true);
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
          for (const known of life) figures.note(batchProgress(0, known), 0);
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
  const terminal = { environment: { TERM: 'xterm' }, isTerminal: true, isOutputThere: false };

  it.each([
    ['live on a terminal', options(), terminal, 'live'],
    ['in lines where no terminal is', options(), { ...terminal, isTerminal: false }, 'lines'],
    ['in lines where rows come out, too', options(), { ...terminal, isOutputThere: true }, 'lines'],
    ['in lines on a dumb one', options(), { ...terminal, environment: { TERM: 'dumb' } }, 'lines'],
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

  it('tells slow rates apart', () => {
    expect([rate(0.25), rate(3), rate(12_345.6)]).toEqual(['0.3/s', '3.0/s', '12,346/s']);
  });
});

import { describe, expect, it } from 'vitest';
import { exportsOf, hoverTexts, optionHovers, optionsWithoutUndefined } from '../source-types.js';

/** What an editor shows of the library's options and types, as the tests of tables ask for it. */
export function describeHoverTexts(): void {
  describe('what an editor shows', () => {
    it.each([
      'RunOptions',
      'StreamRunOptions',
      'EstimateOptions',
      'VerifyOptions',
      'MaxUnknown',
      'Summary',
      'StoppedSummary',
      'Estimate',
      'TypeSummary',
      'TypeEstimate',
      'BatchReport',
      'RunEnd',
      'Source',
      'SourceReading',
      'OpenSourceOptions',
      'Sink',
      'SinkWriting',
      'OpenSinkOptions',
      'JoinedRows',
      'AddedColumn',
    ])('of %s is a sentence for each member, with the unit of a time', (type) => {
      const texts = [...hoverTexts('src/index.ts', type)];
      expect(texts).not.toEqual([]);
      expect(texts.filter(([, text]) => text === '')).toEqual([]);
      const times = texts.filter(([name]) => /Ms$|^seconds$/.test(name));
      expect(times.filter(([, text]) => !/\b(?:milli)?seconds\b/.test(text))).toEqual([]);
    });

    it.each(['RunOptions', 'VerifyOptions'])(
      'of %s says what counts where an option is left out',
      (type) => {
        const texts = [...hoverTexts('src/index.ts', type, { onlyOptional: true })];
        expect(texts.filter(([, , tags]) => !tags.includes('default'))).toEqual([]);
      },
    );
  });

  it('every option that may be left out takes undefined', () => {
    const entries = ['src/index.ts', 'src/lists/sql/postgres/index.ts', 'src/service/index.ts'];
    const taken = entries.flatMap((module) =>
      exportsOf(module)
        .filter((name) => /(?:Options|KeepRule|^Account)$/.test(name))
        .filter((name) => !/^(?:Open|SluiceError)/.test(name))
        .flatMap((name) => optionsWithoutUndefined(module, name)),
    );
    expect(taken).toEqual([]);
  });

  describe('what an editor shows in a call', () => {
    const declared = `
import { estimateRun, rowsSink, run, streamRun, verify, verifyRows, type Client } from 'sluice';
interface Contact { id: number; email: string; mobile: string | null }
declare const client: Client;
declare const source: Contact[];
`;
    const columns = `email: ['email'], phone: ['mobile'], prefix: { email: 'mail' }, columns: ['valid']`;
    const groups = `client, ${columns}, country: 'US', countryColumn: 'email', emailCountry: 'US'`;
    const calls = [
      `verifyRows(source, { ${groups}, batchSize: 1 })`,
      `verifyRows(source, { client, phone: ['mobile'], countryFrom: 'mobile' })`,
      `verify({ ${groups}, batchSize: 1 })`,
      `verify<Contact>()({ ${groups}, batchSize: 1 })`,
      `void run({ source, sink: 'out.csv', stateDir: 'state', ${groups} })`,
      `void run({ source: 'in.csv', sink: rowsSink(() => {}), stateDir: 'state', ${groups} })`,
      `void streamRun({ source, sink: 'out.csv', ${groups} })`,
      `void estimateRun({ source: 'in.csv', sink: 'out.csv', ${groups} })`,
    ];

    it('is a sentence for each option', () => {
      const shown = optionHovers(`${declared}${calls.join(';\n')};\n`);
      expect(shown.length).toBeGreaterThan(60);
      expect(shown.filter(([, text]) => text === '')).toEqual([]);
    }, 120_000);
  });
}

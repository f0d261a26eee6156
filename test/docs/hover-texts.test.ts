import { describe, expect, it } from 'vitest';
import { hoverTexts } from './source-types.js';

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
    'LeftAlone',
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

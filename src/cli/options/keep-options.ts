import { emailQualities } from '../../contract/index.js';
import { ConfigurationError, type Verdict, verdicts } from '../../index.js';
import { defineOptions, type OptionType } from '../command.js';
import {
  location,
  needs,
  needsState,
  notWith,
  parseWords,
  percent,
  text,
  wordList,
} from './option-types.js';

const keepType: OptionType<{
  readonly column: string | undefined;
  readonly words: readonly Verdict[];
}> = {
  shown: '[<column>=]<verdicts>',
  parse: (given, name) => {
    const at = given.lastIndexOf('=');
    const list = given.slice(at + 1).toLowerCase();
    const [quality] = list
      .split(',')
      .filter((word) => word !== 'unknown' && emailQualities.some((known) => known === word));
    if (quality !== undefined) {
      throw new ConfigurationError(
        `--${name} takes ${verdicts.join(', ')}; ${quality} is a quality of emails: --keep-quality ${list}`,
        { option: `--${name}` },
      );
    }
    const words = parseWords(list, name, verdicts);
    return { column: at === -1 ? undefined : given.slice(0, at), words };
  },
};

const notInParts = notWith(
  ['part-size'],
  (name) => `--${name} does not go with an output in parts (--part-size)`,
);

export const keepOptions = defineOptions([
  {
    name: 'keep',
    type: keepType,
    decides: 'rows of the output',
    isCommon: true,
    isRepeatable: true,
    help: 'Write only rows in which every verified column, or the one named, has one of these verdicts: valid, wrong, unknown, none; --rejects <path> takes the others.',
  },
  {
    name: 'keep-quality',
    type: wordList('<list>', emailQualities),
    decides: 'rows of the output',
    rules: [needs(['email'], () => '--keep-quality is for emails: name their column with --email')],
    help: 'The same for email quality: good, bad, risky, unknown.',
  },
  {
    name: 'unique',
    type: text('[<column>]'),
    decides: 'rows of the output',
    mayBeBare: true,
    rules: [notInParts],
    help: 'Of the rows with the same address in that column write the first (default: the only verified column); --rejects <path> takes the others.',
  },
  {
    name: 'rejects',
    type: location('<path>'),
    decides: 'rows of the output',
    rules: [
      needs(
        ['keep', 'keep-quality', 'unique'],
        () =>
          '--rejects is for the rows that --keep, --keep-quality or --unique leaves out: give one of them',
      ),
      notInParts,
    ],
    help: 'File, or object in a bucket, for the rows that --keep, --keep-quality and --unique leave out.',
  },
  {
    name: 'max-unknown',
    type: percent,
    rules: [notInParts, needsState],
    help: 'If more than this share of the verdicts is unknown: write <output>.suspect instead, exit 8.',
  },
]);

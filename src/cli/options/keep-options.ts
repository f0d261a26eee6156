import { emailQualities } from '../../contract/index.js';
import { verdicts, type Verdict } from '../../index.js';
import { defineOptions, type OptionType } from '../command.js';
import { needs, needsState, notWith } from './option-rules.js';
import { parseWords, path, percent, text, wordList } from './option-types.js';

/** Verdicts, of all verified columns or of the one that is named. */
const keepType: OptionType<{
  readonly column: string | undefined;
  readonly words: readonly Verdict[];
}> = {
  shown: '[<column>=]<verdicts>',
  parse: (given, name) => {
    const at = given.lastIndexOf('=');
    const words = parseWords(given.slice(at + 1), name, verdicts);
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
    isCommon: true,
    isRepeatable: true,
    help: 'Write only rows in which every verified column, or the one named, has one of these verdicts: valid, wrong, unknown, none; --rejects <path> takes the others.',
  },
  {
    name: 'keep-quality',
    type: wordList('<list>', emailQualities),
    rules: [needs(['email'], () => '--keep-quality is for emails: name their column with --email')],
    help: 'The same for email quality: good, bad, risky, unknown.',
  },
  {
    name: 'unique',
    type: text('[<column>]'),
    mayBeBare: true,
    rules: [notInParts],
    help: 'Of the rows with the same address in that column write the first (default: the only verified column); --rejects <path> takes the others.',
  },
  {
    name: 'rejects',
    type: path('<path>'),
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
    type: percent(),
    rules: [notInParts, needsState],
    help: 'If more than this share of the verdicts is unknown: write <output>.suspect instead, exit 8.',
  },
]);

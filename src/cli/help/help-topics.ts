import { reasonWords } from '../../report/sentences/reason-words.js';
import { columnTexts, environmentTexts, exitCodeTexts } from './topic-texts.js';
import { textTable } from '../terminal/text-table.js';

/** What `sluice help <topic>` shows besides commands. */
export interface HelpTopic {
  readonly name: string;
  readonly text: () => string;
}

export const helpTopics: readonly HelpTopic[] = [
  {
    name: 'exit-codes',
    text: () =>
      [
        'What a command ends with, and what to do:',
        '',
        indented(exitCodeTexts.map(({ code, happened, todo }) => [String(code), happened, todo])),
        'After all but 0, 2, 3 and 8 the same command resumes. More: docs/when-it-stops.md',
        '',
      ].join('\n'),
  },
  {
    name: 'environment',
    text: () =>
      [
        'Environment variables:',
        '',
        indented(environmentTexts.map(({ names, meaning }) => [names, meaning])),
        '--env-file <path> reads them from a file. More: docs/command-line.md',
        '',
      ].join('\n'),
  },
  {
    name: 'columns',
    text: () =>
      [
        'Columns added for each verified column <c>, of emails, phones or both:',
        '',
        indented(columnTexts.map(({ column, type, meaning }) => [`<c>_${column}`, type, meaning])),
        'Reasons in <c>_reason:',
        '',
        indented(
          Object.entries(reasonWords).map(([code, { words, meaning }]) => [code, words, meaning]),
        ),
        'More: docs/columns.md',
        '',
      ].join('\n'),
  },
  {
    name: 'resume',
    text: () =>
      [
        'The same command resumes a run that stopped, and pays nothing twice:',
        '',
        indented([
          ['sluice status', 'lists the unfinished runs of this folder'],
          ['--retry-failed', 'sends again what failed in a finished run'],
          ['--fresh', 'drops an unfinished run and starts over'],
          ['sluice abandon <state>', 'gives it up'],
        ]),
        'More: docs/when-it-stops.md',
        '',
      ].join('\n'),
  },
  {
    name: 'cost',
    text: () =>
      [
        'One credit for each unique address that the service verifies, per country:',
        '',
        indented([
          ['--dry-run', 'counts what would be sent, and its cost against the balance'],
          ['--limit <n>', 'verifies only the first rows, as a trial'],
          ['--max-credits <n>', 'stops, resumable, before more are spent'],
          ['--history <file>', 'keeps results: they are not paid again'],
          ['sluice credits', 'prints the balance'],
        ]),
        'More: docs/cost.md',
        '',
      ].join('\n'),
  },
  {
    name: 'countries',
    text: () =>
      [
        'The service verifies each address, emails too, for a target country:',
        '',
        indented([
          ['--country <CC>', 'of every row, or of those whose own is not known'],
          ['--country-column <column>', 'takes it row by row'],
          ['--country-from <phone column>', 'takes that of the calling code (+44…)'],
          ['--email-country <CC>', 'of all emails, whatever their row says'],
        ]),
        'More: docs/your-list.md',
        '',
      ].join('\n'),
  },
];

function indented(rows: readonly (readonly string[])[]): string {
  return textTable(rows.map((row) => ['', ...row]));
}

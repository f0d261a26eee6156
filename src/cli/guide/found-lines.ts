import type { SampledList } from '../../index.js';
import { shownCell } from '../../platform/text/printable.js';
import type { Said } from '../messages/run-lines.js';
import type { ChosenCountry } from './choose-country.js';

const whyCountry = 'the service wants one for every address, emails too';

/**
 * What was found in a list, as a person is to confirm it.
 *
 * @param list how the list is called
 * @param withCells whether examples may be shown: at a person's own terminal, and in no log
 */
export function foundLines(
  list: string,
  { contacts, country, leftOut, rows, isWhole }: SampledList,
  withCells: boolean,
): readonly Said[] {
  const examples = (cells: readonly string[]): string =>
    withCells && cells.length > 0 ? `: ${cells.map(shownCell).join(', ')}` : '';
  return [
    {
      event: 'looked',
      fields: { rows, is_whole: isWhole },
      line: `looked at ${isWhole ? 'all of' : 'the beginning of'} ${list} (${rows} ${rows === 1 ? 'row' : 'rows'})`,
    },
    ...contacts.map(({ type, name, title, examples: cells }) => ({
      event: 'found_column',
      fields: { column: name, title, type },
      line: `${type} column ${called(name, title)}${examples(cells)}`,
    })),
    ...(country
      ? [
          {
            event: 'found_column',
            fields: { column: country.name, title: country.title, type: 'country' },
            line: `country column ${called(country.name, country.title)}${examples(country.examples)}`,
          },
        ]
      : []),
    ...leftOut.map(({ name, title, why }) => {
      const reason = why === 'fax' ? 'fax numbers' : 'addresses of your own people, by its name';
      return {
        event: 'left_out_column',
        fields: { column: name, title, why },
        line: `left out: column ${called(name, title)} (${reason}; name it to verify it too)`,
      };
    }),
  ];
}

export function countryLine({ added, why }: ChosenCountry): Said {
  return {
    event: 'found_country',
    fields: { country: added ?? null },
    line: `country: ${why} (${whyCountry})`,
  };
}

export function outputLine(path: string, exists: boolean): Said {
  return {
    event: 'proposed_output',
    fields: { output: path, exists },
    line: `output: ${path}${exists ? ' (exists, will be replaced)' : ''}`,
  };
}

/** What there is, where nothing was found. */
export function columnLines({ all }: SampledList, withCells: boolean): readonly Said[] {
  return all.map(({ name, title, examples }) => {
    const [cell] = examples;
    const example = withCells && cell !== undefined ? `: ${shownCell(cell)}` : '';
    return {
      event: 'column',
      fields: { column: name, title },
      line: `column ${called(name, title)}${example}`,
    };
  });
}

function called(name: string, title: string): string {
  return name === title ? JSON.stringify(name) : `${name} (${shownCell(title)})`;
}

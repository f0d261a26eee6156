import type { SampledList } from '../../index.js';
import { message, type Message } from '../messages/message.js';

/**
 * What was found in a list, as a person is to confirm it.
 *
 * @param list how the list is called
 * @param withCells whether examples may be shown: at a person's own terminal, and in no log
 */
export function foundMessages(
  list: string,
  { contacts, country, leftOut, rows, isWhole }: SampledList,
  withCells: boolean,
): readonly Message[] {
  const all = [...contacts, ...(country ? [{ ...country, type: 'country' }] : [])];
  return [
    message('looked', { input: list, rows, is_whole: isWhole }),
    ...all.map(({ type, name: column, title, examples }) =>
      message('found_column', { column, title, type, examples: withCells ? examples : [] }),
    ),
    ...leftOut.map(({ name: column, title, why }) =>
      message('left_out_column', { column, title, why }),
    ),
  ];
}

/** Columns whose cells hold several addresses, of which a row each is offered. */
export function severalMessages({ contacts }: SampledList, withCells: boolean): readonly Message[] {
  return contacts.flatMap(({ name: column, title, type, several: { cells, of, examples } }) =>
    cells === 0
      ? []
      : [
          message('several_addresses', {
            column,
            title,
            type,
            cells,
            of,
            examples: withCells ? examples : [],
          }),
        ],
  );
}

/** What there is, where nothing was found. */
export function columnMessages({ all }: SampledList, withCells: boolean): readonly Message[] {
  return all.map(({ name: column, title, examples }) =>
    message('column', { column, title, examples: withCells ? examples.slice(0, 1) : [] }),
  );
}

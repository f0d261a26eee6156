import { withMembers } from '../../lists/rows/guarded-ends.js';
import { closableChunks, type RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { SourceReading } from '../../lists/rows/source.js';
import { notice, type Notice } from '../../platform/text/notices.js';
import { trimCell } from '../addresses/address.js';
import { isDate } from './detect-columns.js';

/** So many rows are enough to say that some have opted out. */
const firstRows = 1000;

/** A column's name, without all but its letters. */
const names =
  /opt(?:ed)?out|unsub|donot(?:e?mail|call|contact|text)|abgemeldet|abbestellt|desabonn|desinscri|disiscri/;
const mark = /^(?:1|true|yes|y|x|ja|oui|s[iì]|sí|wahr|vrai|vero|verdadero)$/i;
const status = /^(?:unsubscribed|opted[ -]?out|abgemeldet|désabonnée?|désinscrite?)$/i;

/** Columns that ask for consent, by the same. */
const consents = /accepts(?:e?mail|sms|phone)?marketing|optin|optedin/;
const refused = /^(?:0|false|no|n|nein|non|nee|falsch|faux|falso)$/i;

/** Whether a cell of a column says of its row that nobody may write to it or call it. */
function optOutOf(title: string): (cell: string) => boolean {
  const letters = title
    .normalize('NFD')
    .replaceAll(/[^\p{L}]/gu, '')
    .toLowerCase();
  if (names.test(letters))
    return (cell) => [mark, status].some((one) => one.test(cell)) || isDate(cell);
  if (consents.test(letters)) return (cell) => refused.test(cell);
  return (cell) => status.test(cell);
}

/** The same rows; says how many of the first have opted out. */
export function withOptOuts(
  reading: SourceReading,
  onNotice: (notice: Notice) => void,
): SourceReading {
  const { header } = reading;
  const columns = header.map((title) => ({ title, isOut: optOutOf(title), rows: 0 }));
  const chunks = reading.chunks[Symbol.asyncIterator]();
  let [seen, out] = [0, 0];
  const look = (chunk: RowChunk): void => {
    for (let row = 0; row < chunk.length && seen < firstRows; row += 1, seen += 1) {
      const those = columns.filter(({ isOut }, at) => {
        const cell = chunk.text(row, at);
        return typeof cell === 'string' && isOut(trimCell(cell));
      });
      for (const column of those) column.rows += 1;
      if (those.length > 0) out += 1;
    }
  };
  const report = (isWhole: boolean): void => {
    if (out === 0) return;
    const found = columns.flatMap(({ title, rows }) => (rows > 0 ? [{ column: title, rows }] : []));
    onNotice(notice('opted_out', { columns: found, rows: out, of_rows: isWhole ? null : seen }));
  };
  const all = async function* (): AsyncGenerator<RowChunk> {
    for (let step = await chunks.next(); step.done !== true; step = await chunks.next()) {
      const before = seen;
      look(step.value);
      if (before < firstRows && seen === firstRows) report(false);
      yield step.value;
    }
    if (seen < firstRows) report(true);
  };
  return withMembers(reading, {
    chunks: closableChunks(all(), async () => void (await chunks.return?.())),
  });
}

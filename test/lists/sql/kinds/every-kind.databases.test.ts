import { describe, expect, test } from 'vitest';
import type { Kind } from '../../../../src/index.js';
import { printKind, integerForm } from '../../../../src/lists/rows/values/kinds.js';
import { parseCivil } from '../../../../src/lists/rows/values/civil-time.js';
import { carry } from '../harness/carry.js';
import { sinks } from './kind-sinks.js';
import { sources, type Column } from './kind-sources.js';
import { withFolder } from '../../../service/with-service.js';

/** A value as a program has it, from its text. */
function valueOf({ name }: Kind, text: string): unknown {
  if (integerForm(name)) return BigInt(text);
  return name.startsWith('float') ? Number(text) : text;
}

/** What texts have in common that stand for the same value of a kind. */
function meaningOf(kind: Kind, text: string): unknown {
  switch (kind.name) {
    case 'boolean':
      return text === 'true' || text === '1';
    case 'decimal':
      // A number in a cell has no zeros at its end.
      return text.replace(/\.?0+$/, '');
    case 'date':
      return parseCivil(kind, text.slice(0, 10));
    case 'time':
      // A workbook's day zero.
      return parseCivil(kind, text.replace(/^1899-12-3\dT/, ''));
    case 'timestamp':
    case 'timestamptz':
      return parseCivil(kind, text);
    default:
      return integerForm(kind.name) || kind.name.startsWith('float') ? Number(text) : text;
  }
}

const sourceTypes = new Map([['MariaDB', new Set(['b'])]]);

describe.each(Object.keys(sources))('from %s', (from) => {
  test.each(Object.keys(sinks))('to %s every kind is kept, or is text and told', async (to) => {
    const folder = await withFolder();
    const source = sources[from];
    const sink = sinks[to];
    if (!source || !sink) throw new Error('there is no such pair');
    const { columns } = source;
    const reported = await carry(await source.open(folder), sink.open(folder));
    const found = await sink.read(
      folder,
      columns.map(({ name }) => name),
    );
    const isOwn = ({ name }: Column): boolean =>
      from === to && (from !== 'MariaDB' || sourceTypes.get(from)?.has(name) === true);
    const isKept = (one: Column): boolean =>
      isOwn(one) || sink.keeps(one.kind, valueOf(one.kind, one.text));
    const texts = columns.filter((one) => !isKept(one));
    expect(new Map(reported)).toEqual(
      new Map(texts.map(({ name, kind }) => [name, printKind(kind)])),
    );
    expect(reported).toHaveLength(texts.length);
    for (const [at, one] of columns.entries()) {
      const { type, cells } = found[at] ?? { type: '', cells: [] };
      const kind: Kind = isKept(one) ? one.kind : { name: 'text' };
      const where = `${one.name} (${printKind(one.kind)})`;
      if (!isOwn(one))
        expect(`${where} ${type}`).toBe(`${where} ${await sink.typeFor(kind, folder)}`);
      const read = to === 'CSV' ? { name: 'text' as const } : kind;
      expect([where, meaningOf(read, cells[0] ?? '')]).toEqual([where, meaningOf(read, one.text)]);
      // A row of nothing is none in a workbook, and of empty texts in CSV.
      if (from !== 'XLSX') expect([where, cells[1] || null]).toEqual([where, null]);
    }
  });
});

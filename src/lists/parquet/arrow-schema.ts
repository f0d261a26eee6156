import type { AddedColumn } from '../rows/sink.js';

/** Bytes in front of a message: a mark, and its length. */
const headBytes = 8;
const mark = 0xffffffff;

/** Places of members in the tables of Arrow's `Message.fbs` and `Schema.fbs`. */
const header = 2;
const [endianness, fields, metadata] = [0, 1, 2];
const schemaKind = 1;
const fifthVersion = 4;
const nullable = 1;
const kinds = { text: 5, boolean: 6 } as const;

/**
 * Arrow's note of a Parquet file's columns with more columns at its end: it tells zones, durations and
 * categories from the plain types in which they are stored.
 *
 * @param columns that the file has without the new ones
 * @returns `undefined` where the note is none of so many columns
 */
export function withAddedFields(
  note: string,
  columns: number,
  added: readonly AddedColumn[],
): string | undefined {
  try {
    const bytes = Buffer.from(note, 'base64');
    if (bytes.readUInt32LE(0) !== mark) return undefined;
    const known = bytes.subarray(headBytes);
    const schema = target(known, memberAt(known, target(known, 0), header));
    const list = target(known, memberAt(known, schema, fields));
    if (known.readUInt32LE(list) !== columns || memberAt(known, schema, endianness) !== undefined) {
      return undefined;
    }
    const old = Array.from({ length: columns }, (_, at) => ({
      known: target(known, list + 4 + 4 * at),
    }));
    const notes = memberAt(known, schema, metadata);
    const grown: Table = [
      undefined,
      { vector: [...old, ...added.map(fieldOf)] },
      notes === undefined ? undefined : { known: target(known, notes) },
    ];
    return inFront(known, [fifthVersion, schemaKind, { table: grown }]).toString('base64');
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fieldOf({ name, kind }: AddedColumn): Part {
  return {
    table: [{ text: name }, nullable, kinds[kind], { table: [] }, undefined, { vector: [] }],
  };
}

/** The place of a table's member; `undefined` where it has its default. */
function memberAt(bytes: Buffer, table: number, member: number): number | undefined {
  const layout = table - bytes.readInt32LE(table);
  const at = 4 + 2 * member;
  const offset = at < bytes.readUInt16LE(layout) ? bytes.readUInt16LE(layout + at) : 0;
  return offset === 0 ? undefined : table + offset;
}

/** Where a FlatBuffers offset leads. @throws RangeError without one */
function target(bytes: Buffer, at: number | undefined): number {
  if (at === undefined) throw new RangeError('the member is not there');
  return at + bytes.readUInt32LE(at);
}

type Table = readonly (number | Part | undefined)[];

type Part =
  | { readonly table: Table }
  | { readonly vector: readonly Part[] }
  | { readonly text: string }
  /** A place in the known bytes. */
  | { readonly known: number };

/** A message whose root is a new table: offsets lead forward alone, so new parts stand before the known ones. */
function inFront(known: Buffer, root: Table): Buffer {
  const words: number[] = [0];
  const later: { readonly at: number; readonly known: number }[] = [];

  const refer = (at: number, part: Part): void => {
    if ('known' in part) later.push({ at, known: part.known });
    else words[at] = 4 * (write(part) - at);
  };
  const write = (part: Exclude<Part, { readonly known: number }>): number => {
    if ('table' in part) return writeTable(part.table);
    const start = words.length;
    if ('text' in part) {
      const text = Buffer.from(`${part.text}\0`);
      const padded = Buffer.concat([text, Buffer.alloc(-text.length & 3)]);
      words.push(text.length - 1);
      for (let at = 0; at < padded.length; at += 4) words.push(padded.readUInt32LE(at));
    } else {
      words.push(part.vector.length, ...part.vector.map(() => 0));
      for (const [at, each] of part.vector.entries()) refer(start + 1 + at, each);
    }
    return start;
  };
  /** Each member has a word. */
  const writeTable = (members: Table): number => {
    const sizes = [4 + 2 * members.length, 4 + 4 * members.length];
    const offsets = members.map((member, at) => (member === undefined ? 0 : 4 + 4 * at));
    const layout = words.length;
    const halves = [...sizes, ...offsets, 0];
    for (let at = 0; at + 1 < halves.length; at += 2) {
      words.push((halves[at] as number) + (halves[at + 1] as number) * 0x10000);
    }
    const start = words.length;
    words.push(
      4 * (start - layout),
      ...members.map((each) => (typeof each === 'number' ? each : 0)),
    );
    for (const [at, each] of members.entries()) {
      if (typeof each === 'object') refer(start + 1 + at, each);
    }
    return start;
  };

  refer(0, { table: root });
  if (words.length % 2 > 0) words.push(0);
  for (const { at, known: place } of later) words[at] = 4 * (words.length - at) + place;
  const front = Buffer.alloc(4 * words.length);
  for (const [at, word] of words.entries()) front.writeUInt32LE(word, 4 * at);
  const padding = Buffer.alloc(-known.length & 7);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(mark, 0);
  head.writeUInt32LE(front.length + known.length + padding.length, 4);
  return Buffer.concat([head, front, known, padding]);
}

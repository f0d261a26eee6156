import type { SchemaElement } from 'hyparquet';
import { InputError } from '../../platform/errors/errors.js';
import { isObject } from '../../platform/check-options.js';
import { printDays, printTime, printTimestamp } from '../rows/values/civil-time.js';
import { JsonText } from '../rows/values/kinds.js';
import { bufferOf, printDecimal, shortSingle } from '../rows/values/print-value.js';
import { isList, type ReadLogical, type SchemaNode } from './schema-node.js';

/** Contacts are not deeper; a hostile value must not end the process. */
const maxDepth = 200;

/** Reads a variant or a part of one; `undefined` where it is omitted. */
type ReadPart = (stored: unknown, names: readonly string[]) => unknown;

/**
 * Makes a reader of variants from their group: bytes, columns for common fields (`typed_value`), or both.
 * Decimals and times keep their digits.
 *
 * @throws InputError from the reader, for invalid bytes
 */
export function variantReader(
  node: SchemaNode,
  readLeaf: (leaf: SchemaElement) => ReadLogical,
): ReadLogical {
  const read = partReader(node, readLeaf);
  return (stored) => {
    if (!isObject(stored)) return null;
    try {
      return read(stored, namesOf(stored.metadata)) ?? null;
    } catch (cause) {
      throw new InputError(
        `column ${JSON.stringify(node.element.name)} holds a variant that cannot be read`,
        { cause, column: node.element.name, fault: 'damaged' },
      );
    }
  };
}

function partReader(
  { children }: SchemaNode,
  readLeaf: (leaf: SchemaElement) => ReadLogical,
): ReadPart {
  const node = children.find(({ element }) => element.name === 'typed_value');
  const readTyped = node && typedReader(node, readLeaf);
  return (stored, names) => {
    if (!isObject(stored)) return undefined;
    const { value, typed_value: typed } = stored;
    const whole = value instanceof Uint8Array ? readAt(bufferOf(value), 0, names) : undefined;
    const typedValue =
      typed === null || typed === undefined ? undefined : readTyped?.(typed, names);
    if (typedValue === undefined) return whole;
    // An object whose other members have no columns.
    return isObject(whole) && isObject(typedValue) ? { ...whole, ...typedValue } : typedValue;
  };
}

function typedReader(node: SchemaNode, readLeaf: (leaf: SchemaElement) => ReadLogical): ReadPart {
  const { children, element } = node;
  const [first] = children;
  if (!first) return readLeaf(element);
  if (isList(node)) {
    const readItem = partReader(first.children[0] ?? first, readLeaf);
    return (stored, names) =>
      Array.isArray(stored) ? stored.map((item) => readItem(item, names) ?? null) : undefined;
  }
  const members = children.map((child) => ({
    name: child.element.name,
    read: partReader(child, readLeaf),
  }));
  return (stored, names) => {
    if (!isObject(stored)) return undefined;
    const read = members.map(
      (member) => [member.name, member.read(stored[member.name], names)] as const,
    );
    return Object.fromEntries(read.filter(([, value]) => value !== undefined));
  };
}

const known = new WeakMap<Uint8Array, readonly string[]>();

/** The names of members, to which values refer by number. */
function namesOf(metadata: unknown): readonly string[] {
  if (!(metadata instanceof Uint8Array)) throw new RangeError('no metadata');
  const found = known.get(metadata);
  if (found) return found;
  const bytes = bufferOf(metadata);
  const header = bytes.readUInt8(0);
  if ((header & 15) !== 1) throw new RangeError('unknown version');
  const width = (header >> 6) + 1;
  const count = bytes.readUIntLE(1, width);
  const start = 1 + width * (count + 2);
  const offset = (at: number): number => bytes.readUIntLE(1 + width * (at + 1), width);
  const names = Array.from(boundedCount(count, bytes), (_, at) =>
    textAt(bytes, start + offset(at), offset(at + 1) - offset(at)),
  );
  known.set(metadata, names);
  return names;
}

/** The two lowest bits give its kind, the others its storage. */
function readAt(bytes: Buffer, at: number, names: readonly string[], depth = 0): unknown {
  if (depth > maxDepth) throw new RangeError('nested too deeply');
  const head = bytes.readUInt8(at);
  const form = head >> 2;
  if ((head & 3) === 0) return readPrimitive(bytes, at + 1, form);
  if ((head & 3) === 1) return textAt(bytes, at + 1, form);
  // An object, or an array, which has no name ids.
  const isArray = (head & 3) === 3;
  const offsetWidth = (form & 3) + 1;
  const idWidth = isArray ? 0 : ((form >> 2) & 3) + 1;
  const countWidth = (form & (isArray ? 4 : 16)) === 0 ? 1 : 4;
  const count = bytes.readUIntLE(at + 1, countWidth);
  const ids = at + 1 + countWidth;
  const offsets = ids + count * idWidth;
  const values = offsets + (count + 1) * offsetWidth;
  const items = Array.from(boundedCount(count, bytes), (_, item) => {
    const offset = bytes.readUIntLE(offsets + item * offsetWidth, offsetWidth);
    return readAt(bytes, values + offset, names, depth + 1);
  });
  if (isArray) return items;
  return Object.fromEntries(
    items.map((item, member) => {
      const name = names[bytes.readUIntLE(ids + member * idWidth, idWidth)];
      if (name === undefined) throw new RangeError('a member without a name');
      return [name, item] as const;
    }),
  );
}

/** A bounded array length: the claimed count, if the bytes can hold it. */
function boundedCount(count: number, bytes: Buffer): { length: number } {
  if (count > bytes.length) throw new RangeError('more than there is');
  return { length: count };
}

function readPrimitive(bytes: Buffer, at: number, type: number): unknown {
  switch (type) {
    case 0:
      return null;
    case 1:
    case 2:
      return type === 1;
    case 3:
      return bytes.readInt8(at);
    case 4:
      return bytes.readInt16LE(at);
    case 5:
      return bytes.readInt32LE(at);
    case 6:
      return bytes.readBigInt64LE(at);
    case 7:
      return bytes.readDoubleLE(at);
    case 8:
      return decimal(BigInt(bytes.readInt32LE(at + 1)), bytes.readUInt8(at));
    case 9:
      return decimal(bytes.readBigInt64LE(at + 1), bytes.readUInt8(at));
    case 10:
      return decimal(
        (bytes.readBigInt64LE(at + 9) << 64n) | bytes.readBigUInt64LE(at + 1),
        bytes.readUInt8(at),
      );
    case 11:
      return printDays(bytes.readInt32LE(at));
    case 12:
      return `${printTimestamp(bytes.readBigInt64LE(at) * 1000n)}Z`;
    case 13:
      return printTimestamp(bytes.readBigInt64LE(at) * 1000n);
    case 14:
      return shortSingle(bytes.readFloatLE(at));
    case 15:
      return piece(bytes, at + 4, bytes.readUInt32LE(at));
    case 16:
      return textAt(bytes, at + 4, bytes.readUInt32LE(at));
    case 17:
      return printTime(bytes.readBigInt64LE(at) * 1000n);
    case 18:
      return `${printTimestamp(bytes.readBigInt64LE(at))}Z`;
    case 19:
      return printTimestamp(bytes.readBigInt64LE(at));
    case 20:
      return piece(bytes, at, 16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    default:
      throw new RangeError('unknown type');
  }
}

function decimal(unscaled: bigint, scale: number): JsonText {
  return new JsonText(printDecimal(unscaled, scale));
}

function textAt(bytes: Buffer, at: number, length: number): string {
  return piece(bytes, at, length).toString('utf8');
}

function piece(bytes: Buffer, at: number, length: number): Buffer {
  if (length < 0 || at + length > bytes.length) throw new RangeError('beyond its end');
  return bytes.subarray(at, at + length);
}

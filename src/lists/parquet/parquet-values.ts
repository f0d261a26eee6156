import { isUtf8 } from 'node:buffer';
import { isObject } from '../../platform/check-options.js';
import type { SchemaElement } from 'hyparquet';
import { printDays, printTime, printTimestamp, printInterval } from '../rows/values/civil-time.js';
import { bufferOf, printDecimal, shortSingle, textOfBytes } from '../rows/values/print-value.js';
import { JsonText, type Kind } from '../rows/values/kinds.js';
import { clockOf, holdsBytes, kindOfElement } from './parquet-form.js';
import {
  isFlat,
  isList,
  isMap,
  isVariant,
  nodeOf,
  type ReadLogical,
  type SchemaNode,
} from './schema-node.js';
import { variantReader } from './variant.js';

/**
 * Reads the values of a flat column as the kinds of `lists/rows/values/kinds.ts`. Nothing is rounded: times
 * finer than a millisecond become text.
 */
export function logicalReader(element: SchemaElement): ReadLogical {
  const { converted_type: converted, logical_type: logical, type } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0);
    return reader((value) => readDecimal(value, scale));
  }
  if (converted === 'DATE' || logical?.type === 'DATE') {
    return reader((value) => printDays(Number(value)));
  }
  const clock = clockOf(element);
  if (clock) return reader((value) => readClock(nanosOf(value, clock.nanos, type), clock.kind));
  if (converted === 'INTERVAL') return reader(readInterval);
  if (converted === 'JSON' || logical?.type === 'JSON') {
    return reader((value) => (value instanceof Uint8Array ? new JsonText(textOf(value)) : value));
  }
  if (logical?.type === 'UUID') return reader(readUuid);
  if (logical?.type === 'FLOAT16') return reader((value) => readSingle(readHalf(value)));
  if (type === 'FLOAT') return reader(readSingle);
  if (isUnsigned(element)) return reader((value) => readUnsigned(value));
  if (holdsBytes(element)) return reader((value) => value);
  if (kindOfElement(element)?.name === 'text') return reader(readText);
  if (type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY') return reader(readUntyped);
  return reader((value) => value);
}

function reader(read: (value: unknown) => unknown): ReadLogical {
  return (stored) => (stored === null || stored === undefined ? null : read(stored));
}

function readDecimal(value: unknown, scale: number): string {
  return printDecimal(
    value instanceof Uint8Array ? signedBytes(value) : BigInt(value as number),
    scale,
  );
}

/** Two's complement, big-endian. */
function signedBytes(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

function nanosOf(value: unknown, unit: bigint, type: SchemaElement['type']): bigint {
  const count = BigInt(value as bigint | number);
  return type === 'INT96' ? int96Nanos(count) : count * unit;
}

function readClock(nanos: bigint, { name }: Kind): Date | string {
  if (name === 'time') return printTime(nanos);
  if (name === 'timestamp') return printTimestamp(nanos);
  const date = new Date(Number(nanos / 1_000_000n));
  // Some programs write a number without a date for an infinity.
  const isDate = nanos % 1_000_000n === 0n && !Number.isNaN(date.getTime());
  return isDate ? date : `${printTimestamp(nanos)}Z`;
}

/** Months, days and milliseconds, little-endian. */
function readInterval(value: unknown): unknown {
  if (!(value instanceof Uint8Array) || value.length !== 12) return value;
  const bytes = bufferOf(value);
  return printInterval({
    months: bytes.readUInt32LE(0),
    days: bytes.readUInt32LE(4),
    micros: BigInt(bytes.readUInt32LE(8)) * 1000n,
  });
}

function readSingle(value: unknown): unknown {
  return typeof value === 'number' ? shortSingle(value) : value;
}

/** Sixteen bits: a sign, five of exponent, ten of fraction. */
function readHalf(value: unknown): unknown {
  if (!(value instanceof Uint8Array) || value.length !== 2) return value;
  const bits = ((value[1] ?? 0) << 8) | (value[0] ?? 0);
  const [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, (bits & 1023) / 1024];
  const size =
    exponent === 31
      ? fraction === 0
        ? Infinity
        : NaN
      : exponent === 0
        ? fraction * 2 ** -14
        : (1 + fraction) * 2 ** (exponent - 15);
  return sign === 1 ? -size : size;
}

/** Julian days and nanoseconds of the day in one number, as nanoseconds since 1970. */
export function int96Nanos(stored: bigint): bigint {
  const days = (stored >> 64n) - 2_440_588n;
  return days * 86_400_000_000_000n + (stored & 0xff_ff_ff_ff_ff_ff_ff_ffn);
}

function readUuid(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const hex = Buffer.from(value).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function isUnsigned({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  if (logical?.type === 'INTEGER') return !logical.isSigned;
  return converted?.startsWith('UINT_') === true;
}

function readUnsigned(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt.asUintN(64, value);
  return typeof value === 'number' ? value >>> 0 : value;
}

function readText(value: unknown): unknown {
  return value instanceof Uint8Array && isUtf8(value) ? textOf(value) : value;
}

/** Text where valid, as old writers do not mark text columns; else bytes. */
function readUntyped(value: unknown): unknown {
  return value instanceof Uint8Array ? (textOfBytes(value) ?? value) : value;
}

function textOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('utf8');
}

interface Change {
  /** For values of a leaf; `undefined` leaves them unchanged. */
  readonly ofLeaf: (leaf: SchemaElement) => ReadLogical | undefined;
  readonly ofMap: (entries: readonly Record<string, unknown>[]) => unknown;
  readonly ofVariant: (node: SchemaNode) => ReadLogical | undefined;
}

/**
 * Reads stored values of a nested column: lists as arrays, structures and maps as objects, their content as
 * in a flat column; decimals are numbers with all their digits.
 *
 * @param elements of the column, the group's first
 */
export function nestedReader(elements: readonly SchemaElement[]): ReadLogical {
  const ofMap: Change['ofMap'] = (entries) =>
    Object.fromEntries(entries.map(({ key, value }) => [String(key), value ?? null]));
  const ofVariant = (node: SchemaNode) => variantReader(node, nestedLeafReader);
  const change = { ofLeaf: nestedLeafReader, ofMap, ofVariant };
  return changer(nodeOf(elements), change) ?? ((value) => value);
}

/** Converts stored values of a column for writing; maps become lists of their entries. `undefined` without a change. */
export function storedChanger(
  elements: readonly SchemaElement[],
  ofLeaf: Change['ofLeaf'],
): ReadLogical | undefined {
  return changer(nodeOf(elements), {
    ofLeaf,
    ofMap: (entries) => entries,
    ofVariant: () => undefined,
  });
}

function nestedLeafReader(leaf: SchemaElement): ReadLogical {
  const read = logicalReader(leaf);
  if (leaf.converted_type !== 'DECIMAL' && leaf.logical_type?.type !== 'DECIMAL') return read;
  return (stored) => {
    const digits = read(stored);
    return typeof digits === 'string' ? new JsonText(digits) : digits;
  };
}

function changer(node: SchemaNode, change: Change): ReadLogical | undefined {
  const one = changerOfOne(node, change);
  if (node.element.repetition_type !== 'REPEATED') return one;
  const each = ofEach(one);
  // An item that is repeated no time is an empty list.
  return each && ((value) => each(value ?? []));
}

/** The same for one value of a repeated element. */
function changerOfOne(node: SchemaNode, change: Change): ReadLogical | undefined {
  const { children, element } = node;
  if (isVariant(node)) return change.ofVariant(node);
  const [first] = children;
  if (!first) return change.ofLeaf(element);
  if (isList(node)) {
    const [item] = first.children;
    const each = ofEach(item ? changer(item, change) : changerOfOne(first, change));
    // A required one that reads as nothing is empty.
    return each && element.repetition_type === 'REQUIRED' ? (value) => each(value ?? []) : each;
  }
  const members = ofMembers(children, change);
  if (!isMap(node)) return members;
  return (value) => {
    const group = members ? members(value) : value;
    const entries = isObject(group) ? group[first.element.name] : undefined;
    return Array.isArray(entries) ? change.ofMap(entries.filter(isObject)) : group;
  };
}

function ofMembers(children: readonly SchemaNode[], change: Change): ReadLogical | undefined {
  const members = children.map((child) => ({
    name: child.element.name,
    of: changer(child, change),
  }));
  if (members.every(({ of }) => of === undefined)) return undefined;
  // Null groups are not members of what is read.
  return (value) =>
    isObject(value)
      ? Object.fromEntries(
          members.map(({ name, of }) => [name, (of ? of(value[name]) : value[name]) ?? null]),
        )
      : value;
}

function ofEach(change: ReadLogical | undefined): ReadLogical | undefined {
  return change && ((value) => (Array.isArray(value) ? value.map((item) => change(item)) : value));
}

export interface ParquetColumn {
  readonly name: string;
  /** The schema's elements of this column: one, or a group's and those within it. */
  readonly elements: readonly SchemaElement[];
  readonly read: ReadLogical;
  /** Its kind by the schema; `undefined` where only each value shows it. */
  readonly kind: Kind | undefined;
}

export function parquetColumns(schema: readonly SchemaElement[]): readonly ParquetColumn[] {
  const columns: ParquetColumn[] = [];
  for (let at = 1; at < schema.length;) {
    const next = endOfElement(schema, at);
    const elements = schema.slice(at, next);
    const [first] = elements;
    if (first === undefined) break;
    const isValue = isFlat(elements);
    const read = isValue ? logicalReader(first) : nestedReader(elements);
    const kind: Kind | undefined = isValue ? kindOfElement(first) : { name: 'json' };
    columns.push({ name: first.name, elements, read, kind });
    at = next;
  }
  return columns;
}

function endOfElement(schema: readonly SchemaElement[], at: number): number {
  let next = at + 1;
  for (let child = 0; child < (schema[at]?.num_children ?? 0); child += 1) {
    next = endOfElement(schema, next);
  }
  return next;
}

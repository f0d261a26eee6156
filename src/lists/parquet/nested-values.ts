import type { SchemaElement } from 'hyparquet';
import { JsonText } from '../rows/values/json-text.js';
import { logicalReader, type ReadLogical } from './logical-value.js';

/** An element of a schema, with those in it. */
interface SchemaNode {
  readonly element: SchemaElement;
  readonly children: readonly SchemaNode[];
}

/** What becomes of the values of a column. */
interface Change {
  /** Of those of an element that has no others in it; `undefined` leaves them as they are. */
  readonly ofLeaf: (leaf: SchemaElement) => ReadLogical | undefined;
  readonly ofMap: (entries: readonly Record<string, unknown>[]) => unknown;
}

/**
 * How stored values of a nested column are read: lists as arrays, structures and maps as objects, and
 * what is in them as in a flat column; decimals are numbers with all their digits.
 *
 * @param elements of the column, that of the group first
 */
export function nestedReader(elements: readonly SchemaElement[]): ReadLogical {
  const ofMap: Change['ofMap'] = (entries) =>
    Object.fromEntries(entries.map(({ key, value }) => [String(key), value ?? null]));
  return changer(nodeOf(elements), { ofLeaf: nestedLeafReader, ofMap }) ?? ((value) => value);
}

/**
 * Makes of the stored values of a column those that are written; maps become lists of their entries.
 * `undefined` where nothing is to change.
 */
export function storedChanger(
  elements: readonly SchemaElement[],
  ofLeaf: Change['ofLeaf'],
): ReadLogical | undefined {
  return changer(nodeOf(elements), { ofLeaf, ofMap: (entries) => entries });
}

/**
 * A column's elements for a reading of what is stored: without what it stands for, and maps are lists of
 * entries, as the keys of an object are texts.
 */
export function elementsToRead(elements: readonly SchemaElement[]): SchemaElement[] {
  return flatten(nodeOf(elements), (node) => {
    const { element, children } = node;
    // Without any other meaning a time of 96 bits would become a date, rounded to milliseconds.
    if (element.type === 'INT96') return { ...bare(element), converted_type: 'INT_64' };
    if (children.length === 0) return bare(element);
    return isMap(node) ? { ...bare(element), num_children: children.length } : element;
  });
}

/** A column's elements for values that are written as they are stored. */
export function elementsToWrite(elements: readonly SchemaElement[]): SchemaElement[] {
  return flatten(nodeOf(elements), ({ element, children }) =>
    children.length === 0 ? bare(element) : element,
  );
}

/** A made-up value of a column as it is stored: two of what is repeated, and nothing left out. */
export function sampleOf(elements: readonly SchemaElement[]): unknown {
  return sampleOfNode(nodeOf(elements));
}

function sampleOfNode(node: SchemaNode): unknown {
  const one = (): unknown => {
    const { children } = node;
    const [first] = children;
    if (!first) return sampleOfLeaf(node.element);
    if (isList(node)) {
      const [item] = first.children;
      return [1, 2].map(() => (item ? sampleOfNode(item) : sampleOfLeaf(first.element)));
    }
    return Object.fromEntries(children.map((child) => [child.element.name, sampleOfNode(child)]));
  };
  return node.element.repetition_type === 'REPEATED' ? [one(), one()] : one();
}

function sampleOfLeaf({ type, type_length: length = 1 }: SchemaElement): unknown {
  switch (type) {
    case 'BOOLEAN':
      return true;
    case 'INT64':
      return 1n;
    case 'INT96':
      // Noon of a day in 2024.
      return (2_460_370n << 64n) + 43_200_000_000_000n;
    case 'BYTE_ARRAY':
      return Buffer.from('1');
    case 'FIXED_LEN_BYTE_ARRAY':
      return new Uint8Array(length).fill(1);
    default:
      return 1;
  }
}

/** An element with its physical type alone. */
export function bare(element: SchemaElement): SchemaElement {
  const { type, type_length, repetition_type, name } = element;
  return {
    name,
    ...(type !== undefined && { type }),
    ...(type_length !== undefined && { type_length }),
    ...(repetition_type !== undefined && { repetition_type }),
  };
}

function nodeOf(elements: readonly SchemaElement[]): SchemaNode {
  let at = 0;
  const next = (): SchemaNode => {
    const element = elements[at] ?? { name: '' };
    at += 1;
    return { element, children: Array.from({ length: element.num_children ?? 0 }, next) };
  };
  return next();
}

/** What a variant holds is told by each of its values: its elements stay as they are. */
function flatten(node: SchemaNode, form: (node: SchemaNode) => SchemaElement): SchemaElement[] {
  const formIn = isVariant(node) ? ({ element }: SchemaNode) => element : form;
  return [formIn(node), ...node.children.flatMap((child) => flatten(child, formIn))];
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
  // What is repeated no time is an empty list.
  return each && ((value) => each(value ?? []));
}

/** The same for one of the values of an element that is repeated. */
function changerOfOne(node: SchemaNode, change: Change): ReadLogical | undefined {
  const { children, element } = node;
  if (isVariant(node)) return undefined;
  const [first] = children;
  if (!first) return change.ofLeaf(element);
  if (isList(node)) {
    const [item] = first.children;
    return ofEach(item ? changer(item, change) : changerOfOne(first, change));
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
  const changers = children.flatMap((child) => {
    const of = changer(child, change);
    return of ? [{ name: child.element.name, of }] : [];
  });
  if (changers.length === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return value;
    const changed = changers.map(({ name, of }) => [name, of(value[name])] as const);
    return { ...value, ...Object.fromEntries(changed) };
  };
}

function ofEach(change: ReadLogical | undefined): ReadLogical | undefined {
  return change && ((value) => (Array.isArray(value) ? value.map((item) => change(item)) : value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isVariant({ element }: SchemaNode): boolean {
  return element.logical_type?.type === 'VARIANT';
}

/** As hyparquet finds one, whose values are arrays. */
function isList({ element, children: [repeated, ...others] }: SchemaNode): boolean {
  return (
    element.converted_type === 'LIST' &&
    repeated?.element.repetition_type === 'REPEATED' &&
    repeated.children.length <= 1 &&
    others.length === 0
  );
}

function isMap({ element, children: [entries, ...others] }: SchemaNode): boolean {
  return (
    element.converted_type === 'MAP' &&
    entries?.element.repetition_type === 'REPEATED' &&
    entries.children.map((child) => child.element.name).join() === 'key,value' &&
    others.length === 0
  );
}

import type { SchemaElement } from 'hyparquet';

/** Converts a stored value of a Parquet column to its logical value. */
export type ReadLogical = (stored: unknown) => unknown;

export interface SchemaNode {
  readonly element: SchemaElement;
  readonly children: readonly SchemaNode[];
}

/** A column's element for reading values as stored: no logical types; maps are lists of entries, as keys are texts. */
export function elementsToRead(elements: readonly SchemaElement[]): SchemaElement[] {
  return flatten(nodeOf(elements), (node) => isMap(node) || isVariant(node));
}

export function elementsToWrite(elements: readonly SchemaElement[]): SchemaElement[] {
  return flatten(nodeOf(elements), isVariant);
}

/** @param isBare groups without a logical type */
function flatten(node: SchemaNode, isBare: (node: SchemaNode) => boolean): SchemaElement[] {
  const { element, children } = node;
  const size = children.length === 0 ? {} : { num_children: children.length };
  const written = children.length === 0 || isBare(node) ? { ...bare(element), ...size } : element;
  return [written, ...children.flatMap((child) => flatten(child, isBare))];
}

export function bare(element: SchemaElement): SchemaElement {
  const { type, type_length, repetition_type, name } = element;
  return {
    name,
    ...(type !== undefined && { type }),
    ...(type_length !== undefined && { type_length }),
    ...(repetition_type !== undefined && { repetition_type }),
  };
}

export function nodeOf(elements: readonly SchemaElement[]): SchemaNode {
  let at = 0;
  const next = (): SchemaNode => {
    const element = elements[at] ?? { name: '' };
    at += 1;
    return { element, children: Array.from({ length: element.num_children ?? 0 }, next) };
  };
  return next();
}

export function isVariant({ element }: SchemaNode): boolean {
  return element.logical_type?.type === 'VARIANT';
}

/** A list as hyparquet recognises it, whose values are arrays. */
export function isList({ element, children: [repeated, ...others] }: SchemaNode): boolean {
  return (
    element.converted_type === 'LIST' &&
    repeated?.element.repetition_type === 'REPEATED' &&
    repeated.children.length <= 1 &&
    others.length === 0
  );
}

export function isMap({ element, children: [entries, ...others] }: SchemaNode): boolean {
  return (
    element.converted_type === 'MAP' &&
    entries?.element.repetition_type === 'REPEATED' &&
    entries.children.map((child) => child.element.name).join() === 'key,value' &&
    others.length === 0
  );
}

/** Whether a column has one value for each row, without nesting. */
export function isFlat(elements: readonly SchemaElement[]): boolean {
  return elements.length === 1 && elements[0]?.repetition_type !== 'REPEATED';
}

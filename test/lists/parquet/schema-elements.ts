import type { SchemaElement } from 'hyparquet';

export const optional = { repetition_type: 'OPTIONAL' } as const;
export const required = { repetition_type: 'REQUIRED' } as const;
export const repeated = { repetition_type: 'REPEATED' } as const;
export const bytes = { type: 'BYTE_ARRAY' } as const;
export const text = { ...bytes, converted_type: 'UTF8' } as const;

export const hex = (digits: string): Uint8Array => Buffer.from(digits.replaceAll(' ', ''), 'hex');

/** The paths of the columns that hold values. */
export function leafPaths(elements: readonly SchemaElement[]): readonly (readonly string[])[] {
  let next = 0;
  const pathsOf = (): string[][] => {
    const { name = '', num_children: children = 0 } = elements[next] ?? {};
    next += 1;
    if (children === 0) return [[name]];
    const below = Array.from({ length: children }, pathsOf).flat();
    return below.map((path) => [name, ...path]);
  };
  return pathsOf();
}

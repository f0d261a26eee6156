import { otherPrograms, type OtherFormat } from '../../../lists/files/other-programs.js';

export const rows = Array.from({ length: 60 }, (_, row) => ({
  id: row,
  email: `good${String(row % 50)}@sluice.test`,
  note: `note "${String(row)}"`,
}));
export const formats = Object.keys(otherPrograms) as OtherFormat[];

/** Verifies such a file into another. */
export function commandFor(input: string, output: string, format: OtherFormat): readonly string[] {
  const column = format === 'txt' ? 'value' : 'email';
  return ['verify', input, '-o', output, '--email', column, '--country', 'US'];
}

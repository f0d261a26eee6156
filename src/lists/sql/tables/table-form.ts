import * as z from 'zod';
import { kindNames, type Kind } from '../../rows/values/kinds.js';

/** Which database something comes from or goes to. */
export type DialectName = z.infer<typeof dialect>;
const dialect = z.enum(['postgres', 'mysql', 'sqlite', 'duckdb']);

const tableColumn = z.object({
  name: z.string(),
  /** What it holds; `any` is a column whose cells each have a kind of their own. */
  kind: z.enum([...kindNames, 'any']),
  /** Digits, as `lists/rows/values/kinds.ts` counts them. */
  precision: z.number().optional(),
  scale: z.number().optional(),
  /** The type as its own database writes it: `numeric(10,2)`. */
  type: z.string(),
  /** Whether only that database knows the type. */
  isOwnType: z.boolean().optional(),
  /** The column of a table that it shows as it stands, where the database tells. */
  origin: z.object({ table: z.string(), column: z.string() }).optional(),
});
export type TableColumn = z.infer<typeof tableColumn>;

const tableForm = z.object({
  sluice: z.literal('rows of a database 2'),
  dialect,
  /** Which database it was, without user and password. */
  store: z.string(),
  columns: z.array(tableColumn),
});

/** What rows of a database look like: written as the first line in front of them. */
export type TableForm = Omit<z.infer<typeof tableForm>, 'sluice'>;

export function writeTableForm(form: TableForm): Buffer {
  return Buffer.from(`${JSON.stringify({ sluice: 'rows of a database 2', ...form })}\n`);
}

/** @returns `undefined` when the line is none of ours */
export function parseTableForm(line: string): TableForm | undefined {
  try {
    return tableForm.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** A kind as a column's form has it. */
export function formOfKind(kind: Kind | 'any'): Pick<TableColumn, 'kind' | 'precision' | 'scale'> {
  if (kind === 'any') return { kind };
  const { name, ...digits } = kind;
  return { kind: name, ...digits };
}

/** What a column holds; `undefined` when each cell has a kind of its own. */
export function kindOfColumn({ kind, precision, scale }: TableColumn): Kind | undefined {
  if (kind === 'any') return undefined;
  return {
    name: kind,
    ...(precision !== undefined && { precision }),
    ...(scale !== undefined && { scale }),
  };
}

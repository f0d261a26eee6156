import type { ColumnLooks } from './planner.js';
import type { VerificationType } from '../contract/enums.js';
import { ConfigurationError } from '../errors/family.js';
import type { Plan } from './plan.js';

/** A column that hardly looks like what it is verified as. */
export interface DoubtfulColumn {
  readonly name: string;
  readonly type: VerificationType;
  /** Cells that hold something, of the rows read so far. */
  readonly filled: number;
  /** Those of them that do not look like an email address, or a phone number. */
  readonly malformed: number;
  /** Those of these that look like a phone number in a column of emails, and the other way round. */
  readonly others: number;
}

/** What decides on columns that hardly look like what they are verified as. */
export interface DoubtOptions {
  /**
   * Called before anything is sent when more than half of a column's cells do not look like what they
   * are verified as, and waited for: whether to go on.
   * @default the run goes on
   */
  readonly onDoubtfulColumns?: (columns: readonly DoubtfulColumn[]) => boolean | Promise<boolean>;
}

/** The columns of which more than half of the filled cells are malformed. */
export function doubtfulColumns(plan: Plan): readonly DoubtfulColumn[] {
  return plan.layout.columns.flatMap(({ name, type }, index) => {
    const looks: ColumnLooks = plan.planner.looks[index] ?? { filled: 0, malformed: 0, others: 0 };
    return looks.malformed * 2 > looks.filled ? [{ name, type, ...looks }] : [];
  });
}

/**
 * Asks about doubtful columns, where there are some.
 *
 * @throws ConfigurationError when the run shall not go on
 */
export async function askAboutColumns(
  plan: Plan,
  { onDoubtfulColumns }: DoubtOptions,
): Promise<void> {
  const columns = doubtfulColumns(plan);
  if (columns.length === 0 || !onDoubtfulColumns || (await onDoubtfulColumns(columns))) return;
  const names = columns.map(({ name }) => JSON.stringify(name)).join(', ');
  throw new ConfigurationError(
    `stopped because of ${columns.length === 1 ? 'the column' : 'the columns'} ${names}; nothing was sent: name other columns, or have \`onDoubtfulColumns\` agree to these`,
  );
}

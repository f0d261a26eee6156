/** How the rows of a table are told apart. */
export interface TableKeyOptions {
  /**
   * The column, or columns, that tell a row. With it, rows that the table has are updated and the
   * others added; it is also the primary key of a table that is made.
   * @default none: the table must not be there
   */
  readonly key?: string | readonly string[];
  /**
   * Whether rows only get the added columns, and none is added.
   * @default whether the rows came from the same table, as far as the key's column tells
   */
  readonly isUpdate?: boolean;
}

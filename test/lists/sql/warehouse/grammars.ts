import { parse as parseBigquery } from 'bq2cst';
import { init, parse } from '@guanmingchiu/sqlparser-ts';
import type { LoadTarget } from '../../../../src/lists/sql/warehouse/load-statement.js';

/**
 * Parses a script by the grammar of a warehouse.
 *
 * @throws for what the grammar does not have
 */
export async function parseScript(script: string, target: LoadTarget): Promise<void> {
  await init();
  // What psql itself does is no SQL.
  const own = target === 'postgres' ? script.replaceAll(/^\\.*$/gm, '') : script;
  // One by one, as a load takes the semicolon after it for its own.
  for (const statement of own.split(/(?<=;)$/m)) {
    // That grammar has all of BigQuery but its loads: they have one of their own.
    if (target === 'bigquery' && /^\s*LOAD/.test(statement)) checkLoad(statement);
    else parse(statement, target === 'postgres' ? 'postgresql' : target);
  }
}

/** A node of the tree that bq2cst makes of a statement. */
interface Node {
  readonly node_type: string;
  readonly token?: { readonly literal: string };
  readonly children: Readonly<
    Record<string, { readonly Node?: Node; readonly NodeVec?: readonly Node[] }>
  >;
}

/**
 * Holds a load of BigQuery against its form. The parser makes a tree of everything, as it serves to lay
 * out code that is being written, so the tree is looked at: one statement, each keyword in its place,
 * each bracket closed, a comma between all items and after none.
 */
function checkLoad(statement: string): void {
  const [load, end, ...others] = parseBigquery(statement) as unknown as readonly Node[];
  if (load?.node_type !== 'LoadStatement') fail('it is no load');
  if (end?.node_type !== 'EOF' || others.length > 0) fail('something is left over');
  const { data, into, ident, from, files, from_files: list } = load.children;
  const words = { DATA: data, INTO: into, FROM: from, FILES: files };
  for (const [word, child] of Object.entries(words)) {
    if (child?.Node?.token?.literal !== word) fail(`it has no ${word}`);
  }
  if (!ident || !list?.Node) fail('a part of it is missing');
  checkNode(load);
  for (const option of list.Node.children['exprs']?.NodeVec ?? []) {
    const { left, right } = option.children;
    const isPair = option.token?.literal === '=' && left?.Node?.node_type === 'Identifier';
    if (!isPair || !right) fail('an option is no pair');
  }
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']' };

function checkNode({ node_type: type, token, children }: Node): void {
  if (type === 'Unknown') fail(`${token?.literal} has no meaning`);
  const close = closing[token?.literal ?? ''];
  const closed = children['rparen']?.Node?.token?.literal;
  if (close !== undefined && closed !== close) fail(`${token?.literal} is not closed`);
  for (const { Node: one, NodeVec: several = [] } of Object.values(children)) {
    for (const [at, node] of several.entries()) {
      const comma = node.children['comma']?.Node?.token?.literal;
      if (comma !== (at === several.length - 1 ? undefined : ',')) fail('a comma is out of place');
    }
    for (const node of one ? [one] : several) checkNode(node);
  }
}

function fail(why: string): never {
  throw new Error(`no statement of BigQuery: ${why}`);
}

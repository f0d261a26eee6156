import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** ClickHouse as a library, chdb: half a gigabyte, which `.ci/run` installs and no other does. */
export const clickhouseLibrary = join(
  import.meta.dirname,
  '../../../../.cache/clickhouse/node_modules/chdb',
);

/** In a process of its own, for its threads do not end. */
const program = `
import { createRequire } from 'node:module';
const { Session } = createRequire(import.meta.url)(${JSON.stringify(clickhouseLibrary)});
let script = '';
for await (const piece of process.stdin) script += piece;
const { statements, query } = JSON.parse(script);
const session = new Session();
for (const statement of statements) session.query(statement);
process.stdout.write(session.query(query, 'JSONEachRow'));
session.cleanup();
`;

/**
 * Runs a script of statements, each of which ends in a semicolon at the end of a line, and a query.
 *
 * @returns the query's rows
 */
export async function askClickhouse(
  script: string,
  query: string,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const statements = script
    .replaceAll(/^--.*$/gm, '')
    .split(/;$/m)
    .filter((statement) => statement.trim() !== '');
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    maxBuffer: 100_000_000,
    env: { ...process.env, ...env },
  });
  running.child.stdin?.end(JSON.stringify({ statements, query }));
  const { stdout } = await running;
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

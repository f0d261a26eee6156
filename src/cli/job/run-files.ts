import { ConfigurationError, type FilePermissions, type RunReports } from '../../index.js';
import { parseSuppressList } from '../../engine/runs/options/read-suppressed.js';
import { moreOpenFiles } from '../../lists/files/outputs/output-path.js';
import type { CommandInput } from '../command.js';
import {
  databaseFile,
  filesAmong,
  findInputs,
  type Location,
  locationOf,
  pathOf,
  resolvePath,
} from '../endpoints/locations.js';
import { filesOfOutput, isSamePlace } from '../endpoints/output.js';
import { message } from '../messages/catalogue.js';
import { givenOptions } from '../options/library-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { Reporter } from '../terminal/reporter.js';

/** The files that a command names, which a report of it must not replace, whatever ends it. */
export async function filesNamedIn(
  input: CommandInput<VerifyOption>,
  to: Location,
): Promise<readonly string[]> {
  const { options, positionals, cwd } = input;
  const [history, lists] = [options.text('history'), options.texts('suppress')];
  // What is wrong with the names is said once they are used.
  const inputs = positionals.map(async (path) =>
    /:\/\//.test(path) ? [] : findInputs([path], input).catch(() => []),
  );
  return filesAmong([
    ...[to, ...(await Promise.all(inputs)).flat()].map(
      (each) => pathOf(each) ?? databaseFile(each),
    ),
    ...lists.map((list) => resolvePath(cwd, parseSuppressList(list).source)),
    ...(history === undefined ? [] : [history, `${history}.key`]),
    ...(['rejects', 'config', 'env-file', 'api-key-file'] as const).map((name) =>
      options.text(name),
    ),
  ]);
}

/** @throws ConfigurationError where a file that is written would replace one that is read, or another one */
export async function refuseSameFiles(
  from: readonly Location[],
  to: Location,
  input: CommandInput<VerifyOption>,
  reports: RunReports,
): Promise<void> {
  const at = (name: 'rejects' | 'summary'): readonly Location[] => {
    const path = input.options.text(name);
    return path === undefined ? [] : [locationOf(path, { ...input, env: {} })];
  };
  const outputs = filesOfOutput(from, to, input.options);
  const [lists, rejects] = [suppressLists(input), at('rejects')];
  await refuseAmong(
    [...outputs, ...rejects],
    lists,
    'sink',
    ({ path }) =>
      `${path} is the list of --suppress, which the output would replace: give the output another name`,
  );
  await reports.keepApart(filesAmong([...from, ...lists, ...outputs].map(pathOf)));
  await refuseAmong(outputs, from, 'sink', ({ path }) =>
    from.length === 1
      ? `the output ${path} is the input: give the output another name with -o`
      : `the output ${path} is one of the inputs: give the output another name or another folder with -o`,
  );
  if (rejects.length === 0) return;
  for (const [what, others] of Object.entries({
    input: from,
    output: outputs,
    summary: at('summary'),
  })) {
    await refuseAmong(
      rejects,
      others,
      '--rejects',
      ({ path }) => `--rejects ${path} is the ${what}: give the rejects another name`,
    );
  }
}

async function refuseAmong(
  written: readonly Location[],
  others: readonly Location[],
  option: string,
  messageOf: (written: Location) => string,
): Promise<void> {
  for (const each of written) {
    for (const other of others) {
      if (!(await isSamePlace(other, each))) continue;
      throw new ConfigurationError(messageOf(each), { option, fault: 'exists' });
    }
  }
}

function suppressLists(input: CommandInput<VerifyOption>): readonly Location[] {
  return (givenOptions(input.options).suppress ?? []).flatMap((list) =>
    typeof list === 'object' && 'source' in list && typeof list.source === 'string'
      ? locationOf(list.source, input)
      : [],
  );
}

/** Existing files keep their permissions, which may be wider than the input's. */
export async function reportMoreOpen(
  outputs: readonly Location[],
  noMoreOpenThan: FilePermissions,
  { options }: CommandInput<VerifyOption>,
  reporter: Reporter,
): Promise<void> {
  const others = (['rejects', 'report', 'summary'] as const).map((name) => options.text(name));
  const paths = await moreOpenFiles(
    filesAmong([...outputs.map(pathOf), ...others]),
    noMoreOpenThan,
  );
  if (paths.length > 0) reporter.report([message('kept_open', { paths })]);
}

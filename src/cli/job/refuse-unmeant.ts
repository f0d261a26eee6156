import { readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { ConfigurationError, History } from '../../index.js';
import { isObject } from '../../platform/check-options.js';
import type { CommandInput } from '../command.js';
import type { Target } from '../connect.js';
import { stateDirectoryOf } from '../endpoints/list-ends.js';
import { historiesIn, isDatabase, type Location, standard } from '../endpoints/locations.js';
import type { RunFacts } from '../messages/end-messages.js';
import type { VerifyOption } from '../options/verify-options.js';
import { historyBeside } from '../endpoints/proposed-names.js';
import { findStatus } from './questions.js';

const remote = /^https?:/;

/** A missing variable must not bring the local service's verdicts into a database, or in place of paid ones. */
export async function refuseUnmeant(
  target: Target,
  to: Location,
  input: CommandInput<VerifyOption>,
  run: RunFacts,
): Promise<void> {
  if (target.kind !== 'local' || target.isOnPurpose) return;
  const paid = isDatabase(to) ? undefined : await serviceBefore(to, input);
  if (!isDatabase(to) && paid === undefined) return;
  // The summary of this night keeps it for the next one.
  if (paid) run.service = paid.service;
  const why = paid
    ? `${paid.file} is of a run with ${paid.service}: verdicts of the local service replace its results only with --local`
    : 'the verdicts of the local service go into a database only with --local';
  throw new ConfigurationError(
    `no base URL is given, and ${why}: set SLUICE_BASE_URL and SLUICE_API_KEY, or add --local`,
    { option: 'baseUrl', fault: 'missing' },
  );
}

/** The service of the run before, where its summary, its state or the history that the guide proposes has it. */
async function serviceBefore(
  to: Location,
  input: CommandInput<VerifyOption>,
): Promise<{ readonly file: string; readonly service: string } | undefined> {
  const summary = input.options.text('summary');
  const stateDir = stateDirectoryOf(to, input);
  const history =
    to.kind === 'file' && to.path !== standard ? await historyBeside(to, input) : undefined;
  const found: readonly (readonly [string | undefined, () => Promise<unknown>])[] = [
    [summary, async () => serviceOfSummary(summary)],
    [stateDir, async () => finishedService(stateDir ?? '')],
    [history, async () => historyService(history ?? '')],
  ];
  for (const [file, serviceOf] of found) {
    const service = file === undefined ? undefined : await serviceOf().catch(() => undefined);
    if (file !== undefined && typeof service === 'string' && remote.test(service)) {
      return { file, service };
    }
  }
  return undefined;
}

/** An unfinished run refuses another service itself. */
async function finishedService(stateDir: string): Promise<string | undefined> {
  const status = await findStatus(stateDir);
  return status?.isFinished === true ? status.service : undefined;
}

/** The service that the summary of an earlier run names, unless that was the local one. */
export async function serviceOfSummary(path = standard): Promise<string | undefined> {
  if (path === standard) return undefined;
  try {
    // A pipe or a device is not read: it may have no end.
    if (!(await stat(path)).isFile()) return undefined;
    const summary: unknown = JSON.parse(await readFile(path, 'utf8'));
    const service = isObject(summary) ? summary['service'] : undefined;
    return typeof service === 'string' && remote.test(service) ? service : undefined;
  } catch {
    return undefined;
  }
}

async function historyService(path: string): Promise<string | undefined> {
  // It would be made where there is none.
  if (!historiesIn(dirname(path)).some((found) => basename(found.path) === basename(path)))
    return undefined;
  const history = await History.open({ path });
  await history.close();
  return history.service;
}

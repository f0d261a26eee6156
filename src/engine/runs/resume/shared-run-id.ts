import { createHash } from 'node:crypto';
import type { VerificationService } from '../../../client/client.js';
import { parseBatchName } from '../../batches/batch.js';
import { isLaunched } from '../../batches/uploads/delete-uploads.js';
import { readList } from '../../batches/uploads/list-uploads.js';
import { defaults } from '../../driver/driver-options.js';
import type { PlanEntry, RunEntry } from '../../stores/journal-entries.js';
import type { ResolvedRun } from '../options/run-options.js';

/** Hexadecimal digits of each half of an id. */
const half = 8;

/**
 * The id of a shared run. Its first half is of the run's name, its second half of what it sends: whoever begins it
 * again in a store that has lost it finds its batches by their names on the service.
 *
 * @param identity the run's name, and how many of that name were dropped
 * @param replaces id of the run whose place it takes
 */
export function sharedRunId(
  identity: string,
  { service, decides }: RunEntry,
  { batches, recalled }: PlanEntry,
  replaces: string | undefined,
): string {
  const { settings } = decides;
  return (
    digest(identity) + digest(JSON.stringify({ batches, recalled, service, settings, replaces }))
  );
}

/** @returns names of the launched batches of runs with the name of this one */
export async function launchesOfName(
  client: VerificationService,
  id: string,
  { signal, clock, batchDeadlineMs: deadlineMs = defaults.batchDeadlineMs }: ResolvedRun,
): Promise<readonly string[]> {
  const mark = `-${id.slice(0, half)}`;
  const launched: string[] = [];
  await readList(client, { signal, clock, deadlineMs }, ({ name, status }) => {
    const at = name.lastIndexOf(mark) + 1;
    const isOfName = at > 0 && parseBatchName(name, name.slice(at, at + id.length)) !== undefined;
    if (isOfName && isLaunched(status)) launched.push(name);
  });
  return launched;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, half);
}

import { ConfigurationError, run, type SharedStore } from '../../index.js';
import { connect, type Connection } from '../service/connect.js';
import { preflightOf } from '../options/launch-options.js';
import type { Job } from './run-list.js';
import { listSizeOptions } from '../options/verify-options.js';
import { whereGiven } from './omit-undefined.js';
import type { Workers } from './workers.js';

/** Works on a run that other processes work on, too. @throws ConfigurationError */
export async function runShared(
  { shared, target, options, person, program, reporter, rowsBefore, begin, tell }: Job,
  {
    store,
    isHeldBack,
    workers,
  }: {
    readonly store: SharedStore;
    readonly isHeldBack: boolean;
    /** Started beside this process once the run is begun, and ended with it. @default none */
    readonly workers?: Workers;
  },
): Promise<void> {
  if (target.kind === 'local') {
    throw new ConfigurationError(
      `the local service in this process is no service for other processes: with --store, set SLUICE_BASE_URL and SLUICE_API_KEY (${program} serve is one)`,
    );
  }
  if (!isHeldBack) {
    throw new ConfigurationError(
      'with --store the output is a file, a folder of parts, a table or an s3:// URL, which appears whole: name one with -o',
    );
  }
  const { signal = new AbortController().signal } = shared;
  const launch = preflightOf(options, person, { reporter, signal });
  reporter.target(target);
  let connection: Connection | undefined;
  try {
    await run({
      ...shared,
      // The papers of a run that is over stay.
      client: async () => {
        await begin();
        connection = await connect(target, options, undefined, { tell: reporter.trouble });
        return connection.client;
      },
      onProgress: (progress) => {
        shared.onProgress?.(progress);
        if (progress.stage === 'read') workers?.start();
      },
      store,
      ...whereGiven({ stateDir: options.text('state') }),
      ...launch,
      detach: options.has('detach'),
      retryFailed: options.has('retry-failed'),
      partial: options.has('partial'),
      deleteBatches: options.has('delete-batches'),
      ...options.libraryValues(listSizeOptions),
      rowsBefore,
      onSummary: tell,
    });
  } finally {
    await workers?.stop();
    await connection?.close();
  }
}

import { ConfigurationError, run, type SharedStore } from '../index.js';
import { connect } from './connect.js';
import type { Job } from './run-list.js';
import { refuseBesideStore } from './store-options.js';
import { whereGiven } from './where-given.js';

/** Works on a run that other processes work on, too. @throws ConfigurationError */
export async function runShared(
  { shared, target, options, reporter, begin, tell }: Job,
  { store, isHeldBack }: { readonly store: SharedStore; readonly isHeldBack: boolean },
): Promise<void> {
  refuseBesideStore(options);
  if (target.kind === 'local') {
    throw new ConfigurationError(
      'the local service in this process is no service for other processes: with --store, set SLUICE_BASE_URL and SLUICE_API_KEY (sluice serve is one)',
    );
  }
  if (!isHeldBack) {
    throw new ConfigurationError(
      'with --store the output is a file or an s3:// URL, which appears whole: name one with -o',
    );
  }
  reporter.target(target);
  await begin();
  const connection = await connect(target, options, undefined, reporter.trouble);
  try {
    await run({
      ...shared,
      client: connection.client,
      store,
      ...whereGiven({ stateDir: options.text('state') }),
      deleteBatches: options.has('delete-batches'),
      onSummary: tell,
    });
  } finally {
    await connection.close();
  }
}

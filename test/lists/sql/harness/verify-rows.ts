import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  Client,
  run,
  type ColumnChoice,
  type RunOptions,
  type Summary,
} from '../../../../src/index.js';
import { createService, type Service, type ServiceOptions } from '../../../../src/service/index.js';
import { withFolder } from '../../../service/with-service.js';
import type { Given } from '../../../platform/given.js';

export interface Verifying {
  readonly service: Service;
  readonly client: Client;
  readonly stateDir: string;
  /** Addresses that the service has charged so far. */
  charges(): Promise<number>;
  /** Verifies a list, durably, in the state directory of this test. */
  run(
    options: Given<Omit<RunOptions, 'client' | 'stateDir'>> &
      ColumnChoice &
      Pick<RunOptions, 'source' | 'sink'>,
  ): Promise<Summary>;
}

/** A service, a client of it and a state directory for one test. */
export async function startVerifying(options: ServiceOptions = {}): Promise<Verifying> {
  const folder = await withFolder();
  const service = await createService(options);
  const client = new Client(service);
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  const stateDir = join(folder, 'state');
  return {
    service,
    client,
    stateDir,
    async charges() {
      let charges = 0;
      for await (const entry of service.ledger()) if (entry) charges += 1;
      return charges;
    },
    run: (options) => run({ pollIntervalMs: 5, country: 'US', ...options, client, stateDir }),
  };
}

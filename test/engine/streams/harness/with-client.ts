import { onTestFinished } from 'vitest';
import type { ClientOptions } from '../../../../src/client/client-options.js';
import { Client } from '../../../../src/client/client.js';
import type { Service, ServiceOptions } from '../../../../src/service/index.js';
import { withService } from '../../../service/with-service.js';

/** A local service and a client of it; both are closed after the test. */
export async function withClient(
  options: ServiceOptions = {},
  clientOptions: Partial<ClientOptions> = {},
): Promise<{ readonly service: Service; readonly client: Client }> {
  const { service } = await withService(options);
  const client = new Client({ ...service, ...clientOptions });
  onTestFinished(async () => client.close());
  return { service, client };
}

import type { ClientOptions } from '../../../../src/client/client-options.js';
import type { Client } from '../../../../src/client/client.js';
import type { Service, ServiceOptions } from '../../../../src/service/index.js';
import { withService } from '../../../service/with-service.js';
import { openClient } from '../../../client/test-client.js';

/** A local service and a client of it; both are closed after the test. */
export async function withClient(
  options: ServiceOptions = {},
  clientOptions: Partial<ClientOptions> = {},
): Promise<{ readonly service: Service; readonly client: Client }> {
  const { service } = await withService(options);
  const client = openClient({ ...service, ...clientOptions });
  return { service, client };
}

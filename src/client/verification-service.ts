import type { OperationName } from '../contract/operations.js';
import type { Client } from './client.js';

/**
 * The operations as methods, without a connection in them: what drives batches asks for this, so that a
 * service in memory can replace the one on the wire.
 */
export type VerificationService = Pick<Client, OperationName> &
  Partial<Pick<Client, 'giveUpAfterMs'>>;

import { ok } from '../http/reply.js';
import type { Handler } from './operation.js';

/** `GET /_local/faults`: the planned faults in their order, and how often each fired. */
export const faults: Handler = async (_call, service) => ok(service.faults?.report() ?? []);

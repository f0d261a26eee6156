import type { IncomingMessage } from 'node:http';
import { readBounded } from '../../platform/read-bounded.js';
import { badRequest, HttpProblem } from './http-problem.js';

/** No body of the specification comes near it. */
const maxBytes = 64 * 1024;

/**
 * Reads a JSON body.
 *
 * @throws HttpProblem 400 when it is no JSON, 413 when it is too large
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  // Leaving the loop must not destroy the request: its connection still has to carry the answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  const { bytes, isCut } = await readBounded(body, maxBytes);
  if (isCut) throw new HttpProblem(413, `the body is larger than ${maxBytes} bytes`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw badRequest('the body is no JSON');
  }
}

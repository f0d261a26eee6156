import type { IncomingMessage } from 'node:http';
import { badRequest, HttpProblem } from './http-problem.js';

/** No body of the specification comes near it. */
const maxBytes = 64 * 1024;

/**
 * Reads a JSON body.
 *
 * @throws HttpProblem 400 when it is no JSON, 413 when it is too large
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop must not destroy the request: its connection still has to carry the answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new HttpProblem(413, `the body is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw badRequest('the body is no JSON');
  }
}

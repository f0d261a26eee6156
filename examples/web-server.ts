// A web server that checks the address of a sign-up, by node:http alone. It asks itself, and ends.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Client, isSluiceError, verifyAddress } from 'sluice';
import { createService } from 'sluice/service';

const service = await createService();
// One client for the process: all requests share its rate.
const client = new Client({ baseUrl: service.baseUrl, apiKey: service.apiKey });

async function check(email: string): Promise<object> {
  try {
    const options = { client, email, country: 'US', timeoutMs: 5000, maxRetries: 0 } as const;
    const { verification, reason, record } = await verifyAddress(options);
    return { verification, reason, valid: record?.valid ?? null };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    // The answer is lost, and may be paid: verifying the address again may pay again.
    const isInDoubt = 'sent' in error && error.sent === 'unknown';
    if (isInDoubt) return { verification: 'in_doubt', reason: error.code, valid: null };
    // Wrong options, a refused key, no credits: asking again does not help.
    if (!error.retryable) throw error;
    // Not verified, not paid: the service is busy or away, and a batch can verify the address later.
    return { verification: 'later', reason: error.code, valid: null };
  }
}

const server = createServer((request, response) => {
  json(request)
    .then(async (body) => {
      const { email } = body as { readonly email?: unknown };
      return check(typeof email === 'string' ? email : '');
    })
    .then((verdict) => response.end(JSON.stringify(verdict)))
    .catch((error: unknown) => {
      console.error(error);
      response.writeHead(error instanceof SyntaxError ? 400 : 500).end();
    });
}).listen(0, '127.0.0.1');
await once(server, 'listening');

const { port } = server.address() as AddressInfo;
for (const email of [' good@sluice.test ', 'ana@example.org, ben@example.org', undefined]) {
  const body = JSON.stringify({ email });
  const answer = await fetch(`http://127.0.0.1:${port}/signup`, { method: 'POST', body });
  console.log(await answer.text());
}

server.close();
await client.close();
await service.close();

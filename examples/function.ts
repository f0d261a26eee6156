// A function of a cloud (AWS Lambda and its like), bundled into one file that needs no node_modules:
// esbuild function.ts --bundle --minify --platform=node --format=cjs --outfile=function.cjs
import { Client, isSluiceError, verifyAddress } from 'sluice';

// Outside of the handler: it serves all calls of an instance, which share its connections and its rate.
const client = new Client({
  baseUrl: process.env['SLUICE_BASE_URL'] ?? '',
  apiKey: process.env['SLUICE_API_KEY'],
});

export async function handler(event: { readonly body: string }) {
  const { email } = JSON.parse(event.body) as { readonly email?: unknown };
  try {
    const options = { client, country: 'US', timeoutMs: 5000, maxRetries: 0 } as const;
    const { reason, record } = await verifyAddress({
      ...options,
      email: typeof email === 'string' ? email : '',
    });
    return { statusCode: 200, body: JSON.stringify({ reason, valid: record?.valid ?? null }) };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    // Where `sent` is "unknown" it may be paid, and asking again may pay again.
    const sent = 'sent' in error ? error.sent : 'no';
    return { statusCode: 503, body: JSON.stringify({ reason: error.code, sent, valid: null }) };
  }
}

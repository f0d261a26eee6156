/*
 * Question: does `sluice serve` answer 64 clients at once while it works on batches of a million
 * addresses, how fast, and in how much memory?
 * Data: invented addresses of some hundred domains; requests for credits, list, status, a small export
 * and unit verifications, in turn. The service keeps everything on disk (--data).
 * Command: node scripts/run-compiled.mjs service-load
 * It does not show: a network; slow clients (test/service/http/crowd.test.ts); more than one core for the
 * clients, which share this process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { sluiceCommand } from './harness/sluice-command.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '64' },
    addresses: { type: 'string', default: '1000000' },
  },
});
const seconds = Number(values.seconds);
const clients = Number(values.clients);
const addresses = Number(values.addresses);
const key = 'a-key-for-the-benchmark';
const headers = { 'X-Api-Key': key };

const folder = await mkdtemp(join(tmpdir(), 'sluice-service-load-'));
const service = spawn(
  process.execPath,
  [
    fileURLToPath(sluiceCommand),
    'serve',
    '--port=0',
    `--data=${folder}`,
    '--email-credits=1000000000',
  ],
  { env: { ...process.env, SLUICE_API_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  process.exitCode = await measure(await baseUrlOf(service));
} finally {
  service.kill('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

async function measure(baseUrl: string): Promise<number> {
  const small = await verified(baseUrl, 100, 'small');
  // The answers are right before they are counted.
  const records = (await (
    await ask(
      baseUrl,
      'GET',
      `/v1/batch/${small}/export?format=json&include_details=false&include_statistics=false`,
    )
  ).json()) as object;
  if (Object.keys(records).length !== 100) throw new Error('the small export is not whole');

  const over = new AbortController();
  const working = keepWorking(baseUrl, over.signal);
  await working.begun;
  const load = await autocannon({
    url: baseUrl,
    connections: clients,
    duration: seconds,
    headers,
    requests: [
      { method: 'GET', path: '/v1/account/credits' },
      { method: 'GET', path: '/v1/batch?limit=20' },
      { method: 'GET', path: `/v1/batch/${small}` },
      { method: 'GET', path: `/v1/batch/${small}/export?format=json` },
      {
        method: 'POST',
        path: '/v1/unit',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: 'good@sluice.test' }),
      },
    ],
  });
  over.abort();
  const batches = await working.finished;
  const bad = load.errors + load.timeouts + load.non2xx;
  const lines: readonly (readonly [string, string])[] = [
    ['clients at once', String(clients)],
    ['seconds', String(seconds)],
    ['requests', String(load.requests.total)],
    ['requests a second', load.requests.average.toFixed(0)],
    ['latency p50, p99, max (ms)', `${load.latency.p50}, ${load.latency.p99}, ${load.latency.max}`],
    [
      'errors, timeouts, answers other than 2xx',
      `${load.errors}, ${load.timeouts}, ${load.non2xx}`,
    ],
    [`batches of ${addresses} finished meanwhile`, String(batches)],
    ['highest RSS of the service (MB)', peakMegabytes(service)],
  ];
  for (const [name, value] of lines) process.stdout.write(`${name.padEnd(44)}${value}\n`);
  return bad === 0 ? 0 : 1;
}

/** Batches, one after another: one is always being parsed or verified. */
function keepWorking(
  baseUrl: string,
  signal: AbortSignal,
): { readonly begun: Promise<void>; readonly finished: Promise<number> } {
  const { promise: begun, resolve: begin } = withResolver();
  const work = async (): Promise<number> => {
    let batches = 0;
    while (!signal.aborted) {
      const uuid = await upload(baseUrl, addresses, `run${batches}`);
      begin();
      await prepared(baseUrl, uuid);
      await ask(baseUrl, 'POST', `/v1/batch/${uuid}`);
      await until(baseUrl, uuid, 'verification_done');
      await ask(baseUrl, 'DELETE', `/v1/batch/${uuid}`);
      batches += 1;
    }
    return batches;
  };
  return { begun, finished: work() };
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle() };
}

async function verified(baseUrl: string, count: number, mark: string): Promise<string> {
  const uuid = await upload(baseUrl, count, mark);
  await prepared(baseUrl, uuid);
  await ask(baseUrl, 'POST', `/v1/batch/${uuid}`);
  await until(baseUrl, uuid, 'verification_done');
  return uuid;
}

async function prepared(baseUrl: string, uuid: string): Promise<void> {
  await ask(baseUrl, 'PATCH', `/v1/batch/${uuid}`);
  await until(baseUrl, uuid, 'ready_for_verification');
}

async function upload(baseUrl: string, count: number, mark: string): Promise<string> {
  const form = new FormData();
  form.set('name', mark);
  form.set('type', 'email');
  form.set('target_country', 'US');
  let text = '';
  for (let at = 0; at < count; at += 1) text += `${mark}.${at}@company${at % 300}.com\n`;
  form.set('file', new Blob([text]), 'batch.txt');
  const answer = await ask(baseUrl, 'POST', '/v1/batch', form);
  return ((await answer.json()) as { readonly batch_uuid: string }).batch_uuid;
}

async function until(baseUrl: string, uuid: string, wanted: string): Promise<void> {
  for (;;) {
    const answer = await ask(baseUrl, 'GET', `/v1/batch/${uuid}`);
    const { status } = (await answer.json()) as { readonly status: string };
    if (status === wanted) return;
    await wait(100);
  }
}

async function ask(
  baseUrl: string,
  method: string,
  path: string,
  body: FormData | null = null,
): Promise<Response> {
  const answer = await fetch(baseUrl + path, { method, headers, body });
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status}`);
  return answer;
}

async function baseUrlOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the service has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the service ended before it was ready');
}

/** The kernel's own count; other systems have none that can be read so. */
function peakMegabytes({ pid }: ChildProcess): string {
  try {
    const [, kilobytes] =
      /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return (Number(kilobytes) / 1000).toFixed(0);
  } catch {
    return 'unknown';
  }
}

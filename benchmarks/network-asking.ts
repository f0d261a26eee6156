/*
 * Questions: how many addresses a second does the service ask for, with 50 exchangers each of whose
 * replies takes 100 ms, beside a package that people use for this and beside what the delays allow? And
 * with a million addresses queued: how much memory, and is one asked for twice when the service is
 * killed in the middle?
 * Data: invented addresses of 50 domains; every tenth has a mailbox.
 * Command: node scripts/run-compiled.mjs network-asking [--addresses 20000] [--delay 100] [--queued 1000000]
 * The package deep-email-validator takes part where it is installed, and where this process may listen
 * on port 25 of loopback, which that package cannot be talked out of.
 * It does not show: a real network, greylisting, exchangers that refuse.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '../src/index.js';
import { sluiceCommand } from './harness/sluice-command.js';
import { addressAt, hasMailbox, startMail } from './network-mail.js';
import { askAll, heloName, range } from './service/ask-all.js';

const { values } = parseArgs({
  options: {
    addresses: { type: 'string', default: '20000' },
    delay: { type: 'string', default: '100' },
    queued: { type: 'string', default: '1000000' },
  },
});
const exchangers = 50;
const perExchanger = 2;
const delayMs = Number(values.delay);
const key = 'a-key-for-the-benchmark';

/** Recipients that the delays allow a second: one reply at a time on every connection. */
const bound = (exchangers * perExchanger * 1000) / delayMs;

async function throughput(addresses: number): Promise<void> {
  const seconds = await askAll({ addresses, exchangers, perExchanger, delayMs });
  say('sluice', addresses, seconds);
}

/** One address, one connection, as many at once as Sluice has. */
async function peer(addresses: number): Promise<void> {
  // Not a dependency: whoever wants the comparison installs it.
  const name = 'deep-email-validator';
  type Validate = (options: object) => Promise<{ readonly valid: boolean }>;
  let validate: Validate;
  try {
    ({ validate } = (await import(process.env['PEER'] ?? name)) as { validate: Validate });
  } catch {
    console.log(`${name}: not installed`);
    return;
  }
  const mail = await startMail({ exchangers, addresses, delayMs, port: 25 });
  dns.setServers([mail.resolver]);
  const lookUp = dns.lookup;
  // It connects by name, through the system's own resolver, which knows nothing of these.
  Object.assign(dns, {
    lookup(host: string, options: { all?: boolean }, done: (...answer: unknown[]) => void) {
      const index = Number(/d(\d+)\.lab$/.exec(host)?.[1]);
      const address = `127.0.8.${index + 1}`;
      if (options.all) done(null, [{ address, family: 4 }]);
      else done(null, address, 4);
    },
  });
  let next = 0;
  let right = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: exchangers * perExchanger }, async () => {
      for (let at = next; at < addresses; at = next) {
        next += 1;
        const { valid } = await validate({
          email: addressAt(at, exchangers),
          sender: `probe@${heloName}`,
          validateTypo: false,
          validateDisposable: false,
        });
        if (valid === hasMailbox(at)) right += 1;
      }
    }),
  );
  say(`${name} (${right} of ${addresses} right)`, addresses, (performance.now() - begun) / 1000);
  Object.assign(dns, { lookup: lookUp });
  mail.close();
}

function say(who: string, addresses: number, seconds: number): void {
  const rate = addresses / seconds;
  const share = Math.round((100 * rate) / bound);
  console.log(
    `${who}: ${addresses} addresses in ${seconds.toFixed(1)} s, ${Math.round(rate)} a second, ` +
      `${share} % of the ${bound} that the delays allow`,
  );
}

async function queued(addresses: number): Promise<void> {
  const mail = await startMail({ exchangers, addresses, delayMs: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-network-asking-'));
  const recipients = 50;
  const answeredBy = async (client: Client, uuid: string): Promise<boolean> =>
    (await client.batchStatus(uuid)).status === 'verification_done';
  const start = async (): Promise<{ child: ChildProcess; client: Client }> => {
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(sluiceCommand),
        'serve',
        '--port=0',
        `--data=${folder}`,
        '--verify=network',
        `--helo=${heloName}`,
        `--resolvers=${mail.resolver}`,
        `--smtp-port=${mail.smtpPort}`,
        `--allow-ranges=${range}`,
        `--recipients=${recipients}`,
        '--email-credits=10000000',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SLUICE_API_KEY: key } },
    );
    for await (const line of createInterface({ input: child.stdout })) {
      return { child, client: new Client({ baseUrl: line, apiKey: key }) };
    }
    throw new Error('the service did not start');
  };
  const peakBytes = (child: ChildProcess): number =>
    1024 *
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0);
  const askedCount = (): number => mail.asked.reduce((all, times) => all + (times > 0 ? 1 : 0), 0);

  const begun = performance.now();
  const first = await start();
  const content = Buffer.from(
    Array.from({ length: addresses }, (_, at) => `${addressAt(at, exchangers)}\n`).join(''),
  );
  const uploaded = await first.client.uploadBatch({
    file: { sizeBytes: content.length, open: () => [content] },
    name: 'queued',
    type: 'email',
    target_country: 'US',
  });
  const uuid = 'batch_uuid' in uploaded ? String(uploaded.batch_uuid) : '';
  await first.client.prepareBatch(uuid);
  while ((await first.client.batchStatus(uuid)).status !== 'ready_for_verification')
    await wait(100);
  await first.client.launchBatch(uuid);
  while (askedCount() < addresses * 0.4) await wait(200);
  const peaks = [peakBytes(first.child)];
  const gone = new Promise((resolve) => first.child.on('exit', resolve));
  first.child.kill('SIGKILL');
  await gone;
  await first.client.close();
  console.log(`killed when ${askedCount()} of ${addresses} had been asked for`);

  const second = await start();
  while (!(await answeredBy(second.client, uuid))) await wait(500);
  peaks.push(peakBytes(second.child));
  const seconds = (performance.now() - begun) / 1000;
  let twice = 0;
  for (const times of mail.asked) if (times > 1) twice += 1;
  console.log(
    `${addresses} queued: ${seconds.toFixed(0)} s with the kill; peak memory ` +
      `${peaks.map((bytes) => Math.round(bytes / 1e6)).join(' and ')} MB; asked for ` +
      `${askedCount()}, twice ${twice} (under way at most ${exchangers * recipients})`,
  );
  await second.client.close();
  second.child.kill();
  await new Promise((resolve) => second.child.on('exit', resolve));
  await rm(folder, { recursive: true, force: true });
  mail.close();
}

if (Number(values.addresses) > 0) {
  await throughput(Number(values.addresses));
  await peer(Math.min(2000, Number(values.addresses)));
}
if (Number(values.queued) > 0) await queued(Number(values.queued));

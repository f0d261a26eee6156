import { domainToASCII } from 'node:url';
import { SMTPServer } from 'smtp-server';
import type { Verdict, VerificationEngine } from '../../../src/service/index.js';
import { openExchanger, type TestExchanger } from '../smtp/exchanger.js';
import { startNsd } from './nsd.js';
import type { Situation } from './situation.js';

/** All situations at once, each with an exchanger on an address of its own, and a name server. */
export interface Lab {
  readonly resolver: string;
  readonly port: number;
  readonly domains: readonly string[];
  readonly exchangers: readonly (TestExchanger | undefined)[];
  close(): Promise<void>;
}

const addressOf = (index: number) => `127.8.${Math.floor(index / 200)}.${(index % 200) + 1}`;

export async function openLab(situations: readonly Situation[]): Promise<Lab> {
  const first = await openExchanger('127.8.255.1', {});
  const { port } = first;
  const zones = new Map<string, string[]>([['lab', []]]);
  const closing: (() => Promise<void>)[] = [() => first.close()];
  const domains: string[] = [];
  const exchangers: (TestExchanger | undefined)[] = [];
  for (const [index, { domain: given, zone, manner, server }] of situations.entries()) {
    const ip = addressOf(index);
    const domain = given?.replace('IP', ip) ?? `d${index}.lab`;
    domains.push(domain);
    const lines = zone ?? (domain.startsWith('[') ? [] : ['@ MX 10 mx.@', 'mx.@ A IP']);
    addLines(
      zones,
      domain,
      lines.map((line) => line.replaceAll('IP', ip)),
    );
    const exchanger = manner && (await openExchanger(ip, manner, port));
    exchangers.push(exchanger);
    if (exchanger) closing.push(() => exchanger.close());
    if (server) closing.push(await openSmtpServer(server, ip, port));
  }
  const nsd = await startNsd({
    ...Object.fromEntries([...zones].map(([name, lines]) => [name, zoneText(name, lines)])),
    broken: undefined,
  });
  closing.push(() => nsd.stop());
  return {
    resolver: nsd.resolver,
    port,
    domains,
    exchangers,
    async close() {
      await Promise.all(closing.map((close) => close()));
    },
  };
}

function addLines(zones: Map<string, string[]>, domain: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const ascii = domainToASCII(domain);
  const zone = ascii.endsWith('.lab') ? 'lab' : ascii;
  // Names are written whole, so that `@` always means the domain.
  const full = lines.map((line) => line.replaceAll('@', ascii).replaceAll(ascii, `${ascii}.`));
  zones.set(zone, [...(zones.get(zone) ?? []), ...full]);
}

function zoneText(name: string, lines: readonly string[]): string {
  const head = [
    `${name}. SOA ns.${name}. root.${name}. 1 60 60 60 60`,
    `${name}. NS ns.${name}.`,
    `ns.${name}. A 127.0.0.53`,
  ];
  return ['$TTL 60', ...head, ...lines, ''].join('\n');
}

async function openSmtpServer(
  options: ConstructorParameters<typeof SMTPServer>[0],
  address: string,
  port: number,
): Promise<() => Promise<void>> {
  const server = new SMTPServer(options);
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(port, address, resolve);
  });
  return async () =>
    new Promise((resolve) => {
      server.close(() => resolve());
    });
}

/** Verifies a list as a batch does: what is refused for now is offered again. */
export async function verifyLive(
  engine: VerificationEngine,
  addresses: readonly string[],
  verdicts = new Map<string, Verdict>(),
): Promise<Map<string, Verdict>> {
  const { signal } = new AbortController();
  const live = engine.live?.({ type: 'email', country: 'US' }, signal);
  if (!live) throw new Error('the engine has no live verification');
  let waiting = [...addresses];
  while (verdicts.size < addresses.length) {
    waiting = waiting.filter(
      (address) => !live.offer(address, (verdict) => verdicts.set(address, verdict)),
    );
    if (verdicts.size < addresses.length) await live.moved();
  }
  live.end();
  return verdicts;
}

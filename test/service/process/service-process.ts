import { spawn, type ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type { NetworkEngineOptions, Service, ServiceOptions } from '../../../src/service/index.js';

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** The service as JavaScript, for processes of its own; made anew from the present sources. */
export function buildService(): { readonly url: string; remove(): Promise<void> } {
  const target = join(projectRoot, '.cache', `service-${process.pid}`);
  const module = join(target, 'service.mjs');
  buildSync({
    entryPoints: [join(projectRoot, 'src', 'service', 'index.ts')],
    outfile: module,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return {
    url: pathToFileURL(module).href,
    remove: () => rm(target, { recursive: true, force: true }),
  };
}

export interface ServiceProcess extends Pick<Service, 'baseUrl' | 'apiKey'> {
  /** Ends it by SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a service in a process of its own.
 *
 * @param network options of the engine that asks the network; without them, the service's own
 */
export async function startService(
  url: string,
  options: ServiceOptions,
  network?: NetworkEngineOptions,
): Promise<ServiceProcess> {
  const engine = network ? `{ engine: networkEngine(${JSON.stringify(network)}) }` : '{}';
  const script =
    `import { createService, networkEngine } from ${JSON.stringify(url)};` +
    `const s = await createService({ ...${JSON.stringify(options)}, ...${engine} });` +
    `console.log(JSON.stringify({ baseUrl: s.baseUrl, apiKey: s.apiKey }));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
  });
  const line = await firstLine(child);
  const { baseUrl, apiKey } = JSON.parse(line) as Pick<Service, 'baseUrl' | 'apiKey'>;
  return {
    baseUrl,
    apiKey,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the service has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the service ended before it was ready');
}

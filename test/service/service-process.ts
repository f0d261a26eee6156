import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import type { NetworkEngineOptions, Service, ServiceOptions } from '../../src/service/index.js';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const rooms = ['contract', 'errors', 'hashing', 'options', 'pages', 'service', 'system', 'words'];

/** The service as JavaScript, for processes of its own; made anew from the present sources. */
export async function buildService(): Promise<{ url: string; remove(): Promise<void> }> {
  const target = join(projectRoot, '.cache', `service-${process.pid}`);
  for (const room of rooms) {
    const from = join(projectRoot, 'src', room);
    for (const entry of await readdir(from, { recursive: true })) {
      if (!entry.endsWith('.ts')) continue;
      const source = await readFile(join(from, entry), 'utf8');
      const { outputText } = ts.transpileModule(source, {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      const to = join(target, room, entry.replace(/\.ts$/, '.js'));
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, outputText);
    }
  }
  await writeFile(join(target, 'package.json'), '{"type":"module"}');
  return {
    url: pathToFileURL(join(target, 'service', 'index.js')).href,
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

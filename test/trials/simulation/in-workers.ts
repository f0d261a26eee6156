import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** A share of the work: every `step`-th piece, from `first` on. */
export interface Share {
  readonly first: number;
  readonly step: number;
}

const workers = Math.min(availableParallelism(), 8);
/** Every worker has a core of its own, and what a simulation makes is dropped soon. */
const execArgv = [
  '--single-threaded-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--initial-heap-size=512',
];

/**
 * Has the work done by as many processes as the machine has room for.
 *
 * @param program what they run, with `args` and behind it `--worker first,step`
 * @param isEnough whether what one has sent back makes the work of the others needless
 * @returns what they have sent back
 */
export async function inWorkers<Result>(
  program: string,
  args: readonly string[],
  isEnough: (result: Result) => boolean = () => false,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const children = Array.from({ length: workers }, (_, first) =>
    fork(program, [...args, '--worker', `${first},${workers}`], { execArgv }),
  );
  await Promise.all(
    children.map(
      async (child) =>
        new Promise<void>((resolve, reject) => {
          child.once('message', (message) => {
            const result = message as Result;
            results.push(result);
            resolve();
            if (isEnough(result)) for (const other of children) other.kill();
          });
          child.once('exit', (code) => {
            if (results.some(isEnough)) resolve();
            else reject(new Error(`a worker ended with ${code}`));
          });
        }),
    ),
  );
  return results;
}

/** What a worker has to do; `undefined` in the process that everybody else was made by. */
export function parseShare(worker: string | undefined): Share | undefined {
  if (worker === undefined) return undefined;
  const [first = 0, step = 1] = worker.split(',').map(Number);
  return { first, step };
}

/** Sends what a worker has come to, and lets it end. */
export function sendBack(result: unknown): void {
  process.send?.(result, () => process.disconnect());
}

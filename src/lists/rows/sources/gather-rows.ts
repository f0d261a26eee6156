import { InputError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { orAborted } from '../../../platform/waiting/promises.js';

/** Enough rows for a chunk; more would only wait. */
const mostRows = 512;

/** Gathers single items into lists without delaying them: a list is passed on once the event loop has turned. */
export async function* gatherRows<Item>(
  items: AsyncIterable<Item>,
  signal?: AbortSignal,
): AsyncGenerator<Item[]> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  try {
    let next = iterator.next();
    for (;;) {
      const step = await orAborted(next, signal);
      if (step.done === true) break;
      const gathered = [step.value];
      next = iterator.next();
      const turn = turnOfLoop();
      let more = await Promise.race([next, turn]);
      while (more !== undefined && more.done !== true) {
        gathered.push(more.value);
        next = iterator.next();
        if (gathered.length >= mostRows) break;
        more = await Promise.race([next, turn]);
      }
      // An error that arrives while the list is processed belongs to the next one.
      next.catch(() => undefined);
      // Where rows and output are always ready, the event loop would never turn: timers and aborts would
      // wait.
      if (gathered.length >= mostRows) await turn;
      yield gathered;
    }
    isOver = true;
  } finally {
    // Not awaited: it may be in a wait of its own.
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}

function turnOfLoop(): Promise<undefined> {
  return new Promise((resolve) => {
    setImmediate(resolve, undefined);
  });
}

export function refuseRows(name: string, cause: unknown): never {
  if (isSluiceError(cause)) throw cause;
  throw new InputError(`cannot read ${name}: ${messageOf(cause)}`, {
    code: 'input_unreadable',
    cause,
  });
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'it failed';
}

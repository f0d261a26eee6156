import type { StoreCalls } from '../../../../src/engine/stores/shared/store-protocol.js';
import { SharedSteps } from '../../../../src/engine/stores/shared/shared-steps.js';
import { LeasedRunStore } from '../../../../src/engine/stores/shared/leased-store.js';
import type { SharedRunStore, SharedStore } from '../../../../src/engine/stores/run-store.js';
import type { RowFigures } from '../../../../src/engine/stores/shared/shared-status.js';
import { systemClock, type Clock } from '../../../../src/platform/waiting/clock.js';
import { InTurn, orAborted } from '../../../../src/platform/waiting/promises.js';
import type { MemoryDatabase } from './memory-database.js';

/** How a call gets to the database, and its answer back: it may take time, or never come back. */
export type Way = <Answer>(call: () => Answer) => Promise<Answer>;

const name = 'the run in memory';

/** The store of a run in a database in memory: all but the database is the product's own. */
export function memoryStore(
  database: MemoryDatabase,
  leaseMs: number,
  way: Way = async (call) => call(),
): SharedStore {
  return {
    name,
    look: async () => database.look(),
    async open({ clock = systemClock, rows }) {
      return openMemoryStore(database, { clock, leaseMs, rows }, way);
    },
  };
}

/** @param options.clock the process's own */
export async function openMemoryStore(
  database: MemoryDatabase,
  options: {
    readonly clock: Clock;
    readonly leaseMs: number;
    readonly rows?: RowFigures | undefined;
  },
  way: Way = async (call) => call(),
): Promise<SharedRunStore> {
  const { leaseMs } = options;
  // Blocks so small that results fill several.
  const steps = new SharedSteps({ name, run: database.run, leaseMs, blockBytes: 64 }, () =>
    connect(database, way),
  );
  return LeasedRunStore.open(steps, { ...options, copyLimitBytes: 1e6 });
}

/** One call after the other, as on a connection. */
function connect(database: MemoryDatabase, way: Way): StoreCalls {
  const closing = new AbortController();
  const turns = new InTurn();
  const ask = async <Answer>(call: () => Answer): Promise<Answer> => {
    closing.signal.throwIfAborted();
    return orAborted(
      turns.next(async () => way(call)),
      closing.signal,
    );
  };
  return {
    prepare: async () => undefined,
    call: async <Content>(called: string, values: Readonly<Record<string, unknown>>) =>
      ask(() => database.call(called, values) as Content),
    kept: async (table, _run, life, label) => ask(() => database.kept(table, life, label)),
    copied: async (_run, life) => ask(() => database.copied(life)),
    copyPart: async (_run, part) => ask(() => database.copyPart(part)),
    close: async () => closing.abort(),
  };
}

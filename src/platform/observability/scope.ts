import { AsyncLocalStorage } from 'node:async_hooks';
import { isAnyHeard } from './channels.js';

/** Which run and batch something is done for. */
export interface Scope {
  readonly run?: string;
  readonly batch?: string;
}

const storage = new AsyncLocalStorage<Scope>();

/** For whom the caller works; nobody where neither a run nor a batch is under way. */
export function currentScope(): Scope {
  return storage.getStore() ?? {};
}

/**
 * Does work for a run or a batch: requests that it makes on the way are told as theirs to whoever
 * listened when it began. Where nobody does, nothing is kept: up to Node 22 the first use of a storage
 * makes every promise of the process dearer.
 */
export async function inScope<Result>(scope: Scope, work: () => Promise<Result>): Promise<Result> {
  if (!isAnyHeard()) return work();
  return storage.run({ ...currentScope(), ...scope }, work);
}

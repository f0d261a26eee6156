import { expect, it, onTestFinished } from 'vitest';
import { useLightSignals } from './light-signals.js';

it('does with light signals what happens with those of Node', () => {
  const { AbortController: Controller, AbortSignal: Signal } = globalThis;
  onTestFinished(
    () => void Object.assign(globalThis, { AbortController: Controller, AbortSignal: Signal }),
  );
  const withNodes = whatHappens();
  useLightSignals();
  expect(AbortController).not.toBe(Controller);
  expect(inAnyOrder(whatHappens())).toEqual(inAnyOrder(withNodes));
});

/** Which of two signals that follow a third is notified first differs between the versions of Node. */
function inAnyOrder(log: readonly unknown[]): readonly string[] {
  return log.map((entry) => JSON.stringify(entry)).toSorted();
}

function whatHappens(): readonly unknown[] {
  const log: unknown[] = [];
  const [first, second] = [new AbortController(), new AbortController()];
  const both = AbortSignal.any([first.signal, second.signal]);
  const more = AbortSignal.any([both, new AbortController().signal]);
  const listen = (name: string, signal: AbortSignal): (() => void) => {
    const listener = (): void => {
      log.push([name, signal.aborted, signal.reason, second.signal.aborted]);
    };
    signal.addEventListener('abort', listener, { once: true });
    signal.addEventListener('abort', listener, { once: true });
    return () => signal.removeEventListener('abort', listener);
  };
  listen('more', more);
  listen('first', first.signal);
  listen('both', both);
  listen('taken away', both)();
  more.addEventListener(
    'abort',
    { handleEvent: ({ type }) => void log.push(type) },
    { once: true },
  );
  first.signal.throwIfAborted();
  first.abort('why');
  first.abort('again');
  second.abort();
  listen('too late', more);
  log.push([both.reason, (second.signal.reason as Error).name, AbortSignal.any([both]).reason]);
  for (const signal of [more, second.signal, AbortSignal.any([second.signal])]) {
    try {
      signal.throwIfAborted();
    } catch (error) {
      log.push(error === signal.reason, String(error));
    }
  }
  return log;
}

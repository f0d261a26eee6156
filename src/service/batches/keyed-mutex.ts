/** Lets what concerns one name happen one after another; what concerns others goes on meanwhile. */
export interface KeyedMutex {
  take<Result>(name: string, act: () => Promise<Result>): Promise<Result>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(name, act) {
      const before = last.get(name) ?? Promise.resolve();
      const turn = before.then(act, act);
      // A turn that fails is its taker's concern; the next one only waits for its end.
      const ended = turn.then(
        () => undefined,
        () => undefined,
      );
      last.set(name, ended);
      void ended.then(() => {
        if (last.get(name) === ended) last.delete(name);
      });
      return turn;
    },
  };
}

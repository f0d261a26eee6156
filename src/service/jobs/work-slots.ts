/** Lets so many pieces of work go on at once; the others wait in the order they came. */
export interface WorkSlots {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createWorkSlots(most: number): WorkSlots {
  const waiting: (() => void)[] = [];
  let taken = 0;

  async function enter(): Promise<void> {
    if (taken < most) {
      taken += 1;
      return;
    }
    // The place is handed over: it stays taken.
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  }

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

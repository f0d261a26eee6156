/**
 * Takes all that waits, so many at once. What is added meanwhile is taken, too.
 *
 * @returns what stopped it; `undefined` when all were taken
 */
export async function takeAll<Item>(
  waiting: Item[],
  places: number,
  take: (item: Item) => Promise<void>,
): Promise<{ readonly error: unknown } | undefined> {
  const walkers: Promise<void>[] = [];
  let stoppedBy: { readonly error: unknown } | undefined;
  let walking = 0;
  const walk = async (): Promise<void> => {
    walking += 1;
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        await take(item);
        // It may have left others in its place.
        startWalkers();
      }
    } catch (error) {
      stoppedBy ??= { error };
    } finally {
      walking -= 1;
    }
  };
  const startWalkers = (): void => {
    const wanted = Math.min(places - walking, waiting.length);
    for (let started = 0; started < wanted; started += 1) walkers.push(walk());
  };
  startWalkers();
  // Those that are started meanwhile stand behind.
  for (const walker of walkers) await walker;
  return stoppedBy;
}

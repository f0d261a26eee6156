/** The larger of the two sizes that are compared, in characters, and the smaller. */
const sizes = { large: 16_384, small: 2048 } as const;
/** Work that is over sooner is not worth a second look, whatever its growth. */
const leastMs = 30;
/** Eight times the size takes eight times as long, or sixty-four times where it is quadratic. */
const mostGrowth = 24;

/** The shortest of some times that this process itself worked: on a busy machine it waits for its turn. */
function shortest(run: () => void): number {
  let best = Infinity;
  for (let time = 0; time < 3; time += 1) {
    const begun = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(begun);
    best = Math.min(best, (user + system) / 1000);
    if (best < leastMs / mostGrowth) break;
  }
  return best;
}

/** Whether work grows faster than the text that it is done on. */
export function growsTooFast(work: (characters: number) => () => void): boolean {
  const large = shortest(work(sizes.large));
  return large >= leastMs && large / shortest(work(sizes.small)) > mostGrowth;
}

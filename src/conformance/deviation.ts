/** The service does not do what a clause says. */
export class Deviation extends Error {}

/** The occasion of a clause did not come. */
export class NotReached extends Error {}

/** @throws Deviation */
export function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Deviation(otherwise);
}

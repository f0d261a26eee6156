/** Whether only the cases run that decide whether a change lands: the same each time. */
export const isFixed = process.env['FAULTS_FIXED'] === '1';

/**
 * The cases that are this process's: of all, or of one in `FAULTS_PARTS` that `FAULTS_SEED` draws, one in
 * `FAULTS_SHARES`, because as many processes share them.
 *
 * @param lotOf a number by which each process knows a case again, however many it has planned
 */
export function drawnPart<Case>(
  cases: readonly Case[],
  lotOf: (one: Case) => number,
): readonly Case[] {
  const parts = given('FAULTS_PARTS', 1);
  const part = given('FAULTS_SEED', 0) % parts;
  const shares = given('FAULTS_SHARES', 1);
  const share = given('FAULTS_SHARE', 0);
  return cases.filter((one) => {
    const lot = lotOf(one);
    return lot % parts === part && Math.floor(lot / parts) % shares === share;
  });
}

function given(name: string, otherwise: number): number {
  return Number(process.env[name] ?? otherwise);
}

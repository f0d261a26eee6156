/**
 * The cases of which a run of the suite takes its part: all, or one in `FAULTS_PARTS`, another one with
 * each `FAULTS_SEED`.
 */
export function drawnPart<Case>(cases: readonly Case[]): readonly Case[] {
  const parts = Number(process.env['FAULTS_PARTS'] ?? 1);
  const drawn = Number(process.env['FAULTS_SEED'] ?? 0) % parts;
  return cases.filter((_, at) => at % parts === drawn);
}

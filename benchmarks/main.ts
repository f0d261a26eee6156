// `npm run bench`: answers all questions, prints the table, writes benchmarks/results.json and the table
// and the plot in docs/performance.md.
// `npm run bench -- --quick`: the same with little data, judging no times. `-- <name> …` asks only those.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { answer, type Answer } from './harness/answer.js';
import { questions } from './harness/questions.js';
import { plot, type PlotPoint } from './harness/plot.js';
import { type Question, scales } from './harness/question.js';
import { putTable, table } from './harness/table.js';

const resultsFile = 'benchmarks/results.json';
const pageFile = 'docs/performance.md';
const plotFile = 'docs/performance.svg';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, rounds: { type: 'string' } },
});
const scale = values.quick === true ? scales.quick : scales.full;
const rounds = values.rounds === undefined ? scale.rounds : Number(values.rounds);
const unknown = positionals.find((name) => !(name in questions));
if (unknown !== undefined) {
  throw new Error(
    `there is no question ${unknown}; there are ${Object.keys(questions).join(', ')}`,
  );
}

// One that cannot be loaded is told before others are measured.
const loaded = new Map<string, Question>();
for (const [name, load] of Object.entries(questions)) loaded.set(name, await load());

const answers: Answer[] = [];
for (const [name, question] of loaded) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  answers.push(await answer(name, question, scale, rounds));
  // An answer of an hour is not lost with the next question.
  if (scale.name === 'full') await keep(answers);
}
if (scale.name === 'full') console.log(table(answers.flatMap(({ figures }) => figures)));
else console.log(`${answers.length} questions were asked, and every output was what it has to be`);

async function keep(answers: readonly Answer[]): Promise<void> {
  const machine = { node: process.version, cores: availableParallelism() };
  const measured = new Map(answers.map((answered) => [answered.question, answered]));
  const kept = await knownAnswers();
  const all = Object.keys(questions).flatMap((name) => measured.get(name) ?? kept.get(name) ?? []);
  await writeFile(resultsFile, `${JSON.stringify({ machine, answers: all }, undefined, 2)}\n`);
  const sizes = all.find(({ question }) => question === 'list-sizes');
  if (sizes) await writeFile(plotFile, plot(pointsOf(sizes)));
  const page = await readFile(pageFile, 'utf8');
  await writeFile(
    pageFile,
    putTable(
      page,
      all.flatMap((answered) => answered.figures),
    ),
  );
}

function pointsOf({ medians }: Answer): readonly PlotPoint[] {
  return Object.values(medians).flatMap(({ rows, seconds, peakBytes }) =>
    rows === undefined || seconds === undefined || peakBytes === undefined
      ? []
      : [{ rows, seconds, peakBytes }],
  );
}

/** What earlier runs have measured, for the questions that were not asked now. */
async function knownAnswers(): Promise<ReadonlyMap<string, Answer>> {
  const text = await readFile(resultsFile, 'utf8').catch(() => '{"answers":[]}');
  // This program wrote it.
  const { answers: known } = JSON.parse(text) as { readonly answers: readonly Answer[] };
  return new Map(known.map((answered) => [answered.question, answered]));
}

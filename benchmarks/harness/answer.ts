import type { Figure, Measured, Question, Scale } from './question.js';
import { runTask } from './run-task.js';

/** What a question came to. */
export interface Answer {
  readonly question: string;
  readonly asks: string;
  /** How often each task was run. */
  readonly rounds: number;
  readonly figures: readonly Figure[];
  /** Medians by task and value. */
  readonly medians: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/**
 * Runs the tasks of a question in turn, round after round, so that all meet the same machine. Nothing is
 * told before every run has done what the slow reference path says it should.
 *
 * @throws Error when two tasks that must agree do not
 */
export async function answer(
  name: string,
  question: Question,
  scale: Scale,
  rounds: number,
): Promise<Answer> {
  await question.prepare(scale);
  const tasks = Object.entries(question.tasks);
  const checks = new Map<string, { readonly check: string; readonly task: string }>();
  const runs = new Map<string, Measured[]>();
  const isReference = ([, task]: (typeof tasks)[number]): boolean => task.isReference === true;
  const times = Math.min(rounds, question.rounds ?? rounds);
  const order = [
    ...tasks.filter((task) => isReference(task)),
    ...Array.from({ length: times }, () => tasks.filter((task) => !isReference(task))).flat(),
  ];
  for (const [taskName, task] of order) {
    const measured = await runTask(name, taskName, scale);
    const other = checks.get(task.checkedAs);
    if (other === undefined) {
      checks.set(task.checkedAs, { check: measured.check, task: taskName });
    } else if (other.check !== measured.check) {
      throw new Error(
        `${name}: ${taskName} gave ${measured.check} and ${other.task} gave ${other.check}`,
      );
    }
    runs.set(taskName, [...(runs.get(taskName) ?? []), measured]);
    process.stderr.write(`${name}: ${taskName} ${reported(measured)}\n`);
  }
  const medians = Object.fromEntries(
    [...runs].map(([task, all]) => [task, mediansOf(all.map(({ values }) => values))]),
  );
  const median = (task: string, value: string): number => {
    const found = medians[task]?.[value];
    if (found === undefined) throw new Error(`${name}: ${task} did not measure ${value}`);
    return found;
  };
  const { asks } = question;
  const figures = question.figures(median, scale);
  return { question: name, asks, rounds: times, figures, medians };
}

function mediansOf(
  runs: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, medianOf(runs.map((run) => run[name] ?? Number.NaN))]),
  );
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 0 ? (low + high) / 2 : high;
}

function reported({ values }: Measured): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${Number.isInteger(value) ? value : value.toFixed(3)}`)
    .join(', ');
}

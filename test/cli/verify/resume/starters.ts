import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { projectRoot } from '../../../docs/page.js';

/** What a scheduler makes of an exit code. */
export type Verdict = 'done' | 'retry' | 'person';

export interface NightEnd {
  /** Of the command; `null` when a signal ended the starter. */
  readonly code: number | null;
  readonly verdict: Verdict | undefined;
  /** What the starter said. */
  readonly printed: string;
}

export interface Night {
  readonly ended: Promise<NightEnd>;
  /** Sends a signal to the starter and to all that it has started. */
  kill(signal: NodeJS.Signals): void;
  /** Asks the starter alone to end, as a scheduler does. */
  stop(): void;
}

export interface NightOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Options for the command beside those that the starter has. */
  readonly more?: readonly string[];
  /** Largest file that may be written, in KiB. */
  readonly mostKib?: number;
}

export interface Starter {
  readonly name: string;
  start(folder: string, options: NightOptions): Promise<Night>;
}

export const examples = join(projectRoot, 'examples');

/** A process and all that it has started, which a script may give groups of their own. */
function treeOf(root: number): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const all = [root];
  for (const parent of all)
    all.push(...pairs.flatMap(([pid = 0, of]) => (of === parent ? [pid] : [])));
  return all;
}

/** Runs a command line as a night; its processes do not outlive the test. */
export function startNight(
  folder: string,
  command: readonly string[],
  { env, mostKib }: NightOptions,
  verdictOf: (code: number, message: string) => Pick<NightEnd, 'code' | 'verdict'>,
): Night {
  const limit = mostKib === undefined ? '' : `ulimit -f ${mostKib}; `;
  const child: ChildProcess = spawn('/bin/bash', ['-c', `${limit}exec "$@"`, 'bash', ...command], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: process.env['HOME'], ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    for (const pid of treeOf(child.pid)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended.
      }
    }
  };
  onTestFinished(() => kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  }
  const ended = new Promise<NightEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({
        printed,
        ...(code === null ? { code, verdict: undefined } : verdictOf(code, printed)),
      });
    });
  });
  return { ended, kill, stop: () => child.kill('SIGTERM') };
}

/** cron shows what the script says, and mails it. */
const cron: Starter = {
  name: 'nightly.sh',
  start: async (folder, options) =>
    Promise.resolve(
      startNight(
        folder,
        [join(examples, 'nightly.sh'), folder, ...(options.more ?? [])],
        options,
        (code, printed) => {
          // The script's own line; what follows is quoted from the log.
          const [said = ''] = printed.split('\n', 1);
          if (/verified\.csv is complete/.test(said)) return { code, verdict: 'done' };
          const isForPerson = /nothing was sent|set another|buy some|look at/.test(said);
          return { code, verdict: isForPerson ? 'person' : 'retry' };
        },
      ),
    ),
};

/** What the DAG needs of Airflow: its operator runs the callable, its errors say whether to retry. */
const airflowStandIn = {
  '__init__.py': `
class DAG:
    def __init__(self, **options): assert options["max_active_runs"] == 1
    def __enter__(self): return self
    def __exit__(self, *trouble): pass
`,
  'exceptions.py': `
class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass
`,
  'operators/__init__.py': '',
  'operators/python.py': `
import functools, os
tasks = {}
class PythonOperator:
    def __init__(self, *, task_id, python_callable, retries, retry_delay):
        assert retries > 0
        tasks[task_id] = python_callable
    @staticmethod
    def partial(*, task_id, python_callable, op_kwargs, retries, retry_delay):
        assert retries > 0
        return Mapped(task_id, python_callable, op_kwargs)
class Mapped:
    def __init__(self, *task): self.task = task
    def expand(self, *, op_args):
        task_id, python_callable, op_kwargs = self.task
        dag, run = "{{ dag.dag_id }}", "{{ run_id }}"
        rendered = lambda text: text.replace(dag, "a_dag").replace(run, os.environ.get("RUN_ID", ""))
        kwargs = {name: rendered(text) for name, text in op_kwargs.items()}
        for at, args in enumerate(op_args):
            tasks[f"{task_id} {at}"] = functools.partial(python_callable, *args, **kwargs)
`,
  '../run_task.py': `
import subprocess, sys
import airflow_dag
from airflow.exceptions import AirflowException, AirflowFailException
from airflow.operators.python import tasks
for command in (airflow_dag.COMMAND, airflow_dag.SHARED): command += sys.argv[2:]
codes = [127]
run = subprocess.run
def watched(*args, **options):
    ended = run(*args, **options)
    codes.append(ended.returncode)
    return ended
subprocess.run = watched
try:
    print("task:", tasks[sys.argv[1]](), flush=True)
    verdict = "done"
except AirflowFailException as error:
    print("task:", error)
    verdict = "person"
except AirflowException as error:
    print("task:", error)
    verdict = "retry"
print("verdict:", codes[-1], verdict, flush=True)
`,
};

/** Where Airflow 3 has the same. */
const airflowThree = {
  'sdk.py': 'from airflow import DAG\n',
  'providers/standard/operators/python.py': 'from airflow.operators.python import PythonOperator\n',
};

/** Runs a task of the DAGs; one that is mapped has its place among the mapped ones after its name. */
export const airflowTask = (task: string, version: 2 | 3 = 3): Starter => ({
  name: `airflow_dag.py, ${task}, Airflow ${version}`,
  start: async (folder, options) => {
    const place = await mkdtemp(join(folder, '.airflow-'));
    const modules = { ...airflowStandIn, ...(version === 3 && airflowThree) };
    for (const [name, text] of Object.entries(modules)) {
      const path = join(place, 'airflow', name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    const env = {
      ...options.env,
      SLUICE_LISTS: folder,
      PYTHONPATH: `${place}:${examples}`,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const command = ['python3', join(place, 'run_task.py'), task, ...(options.more ?? [])];
    return startNight(folder, command, { ...options, env }, (_, printed) => {
      const [, code, verdict] = /^verdict: (-?\d+) (\w+)$/m.exec(printed) ?? [];
      return { code: Number(code), verdict: verdict as Verdict | undefined };
    });
  },
});

/** Runs what a unit of systemd runs. @param instance of one that is a template */
export const systemdUnit = (name: string, instance = ''): Starter => ({
  name,
  start: async (folder, options) => {
    const text = await readFile(join(examples, 'systemd', name), 'utf8');
    const unit = text.replaceAll('%i', instance);
    const directives = new Map(
      unit
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        .flatMap((line) => {
          const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
          return name === undefined || value === undefined ? [] : [[name, value] as const];
        }),
    );
    const codes = (name: string): readonly number[] =>
      (directives.get(name) ?? '').split(' ').map(Number);
    const command = (directives.get('ExecStart') ?? '').split(' ');
    return startNight(folder, [...command, ...(options.more ?? [])], options, (code) => {
      if (code === 0 || codes('SuccessExitStatus').includes(code)) return { code, verdict: 'done' };
      const isTried =
        directives.get('Restart') === 'on-failure' &&
        !codes('RestartPreventExitStatus').includes(code);
      return { code, verdict: isTried ? 'retry' : 'person' };
    });
  },
});

const kubernetes: Starter = {
  name: 'cronjob.yaml',
  start: async (folder, options) => {
    const yaml = await readFile(join(examples, 'kubernetes', 'cronjob.yaml'), 'utf8');
    const [, block = ''] = /^ +args:\n +- \|\n((?: {18}.*\n)+)/m.exec(yaml) ?? [];
    const script = block.replaceAll(/^ {18}/gm, '');
    const [, shell = ''] = /command: \[.([^'"]+).,/.exec(yaml) ?? [];
    const [, values = ''] = /action: FailJob[^]*?values: \[([\d, ]+)\]/.exec(yaml) ?? [];
    const failing = values.split(',').map(Number);
    const more = (options.more ?? []).join(' ');
    const command = [shell, '-c', script.replace('"$@"', `${more} "$@"`)];
    return startNight(folder, command, options, (code) => {
      if (code === 0) return { code, verdict: 'done' };
      return { code, verdict: failing.includes(code) ? 'person' : 'retry' };
    });
  },
};

export const starters: readonly Starter[] = [
  cron,
  airflowTask('verify'),
  systemdUnit('sluice-verify.service'),
  kubernetes,
];

/** Puts a command `sluice` into a folder, as an installed package has one. */
export async function putCommand(folder: string, script: string): Promise<void> {
  await writeFile(join(folder, 'sluice'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'sluice'), 0o755);
}

/** The command as it is built. */
export const builtCommand = `exec ${process.execPath} ${join(projectRoot, 'dist', 'cli', 'main.js')} "$@"`;

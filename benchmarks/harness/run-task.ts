import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measured, Scale } from './question.js';

const child = fileURLToPath(new URL('../task-process.js', import.meta.url));

/** Runs a task in a process of its own. @throws Error when it fails */
export async function runTask(question: string, task: string, scale: Scale): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const running = fork(child, [question, task, scale.name], {
      execArgv: ['--expose-gc'],
      serialization: 'advanced',
    });
    let measured: Measured | undefined;
    running.on('message', (message) => {
      // Our own child wrote it.
      measured = message as Measured;
    });
    running.on('error', reject);
    running.on('close', (code) => {
      if (code === 0 && measured !== undefined) resolve(measured);
      else reject(new Error(`${question}: ${task} ended with ${String(code)}`));
    });
  });
}

// Loaded in front of the command (`node --import`): kills the process at one write of its journal.
// KILL_AT: number of the write, from 1; KILL_MODE: before, torn or after it; KILL_COUNT_FILE: where the
// number of writes is left when the process ends by itself.
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

const at = Number(process.env.KILL_AT ?? 0);
const mode = process.env.KILL_MODE ?? 'after';
const countFile = process.env.KILL_COUNT_FILE;
const journalLine = /^[0-9a-f]{8} (?:\{"journal"|\[\{"entry")/;

const probe = await open(new URL(import.meta.url), 'r');
const prototype = Object.getPrototypeOf(probe);
await probe.close();

const { appendFile } = prototype;
let writes = 0;

prototype.appendFile = async function appendOrDie(data, ...rest) {
  if (!journalLine.test(Buffer.from(data).toString('latin1', 0, 40))) {
    return appendFile.call(this, data, ...rest);
  }
  writes += 1;
  if (writes !== at) return appendFile.call(this, data, ...rest);
  if (mode === 'torn') await appendFile.call(this, data.slice(0, Math.ceil(data.length / 2)));
  if (mode === 'after') {
    await appendFile.call(this, data, ...rest);
    await this.datasync();
  }
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};

if (countFile !== undefined) {
  process.on('exit', () => {
    writeFileSync(countFile, String(writes));
  });
}

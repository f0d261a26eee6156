// Loaded in front of the command (`node --import`): kills the process at one write of its journal.
// KILL_AT: number of the write, from 1; or KILL_RECORD: what it writes down, such as `plan` or `batch 1 launching`,
// whatever goes to the disk together with it. KILL_MODE: before, torn or after it, or `stop`: after it the
// process is stopped, not killed, and says so. KILL_COUNT_FILE: where the number of writes is left when the
// process ends by itself.
import { writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';

const at = Number(process.env.KILL_AT ?? 0);
const record = process.env.KILL_RECORD;
const mode = process.env.KILL_MODE ?? 'after';
const countFile = process.env.KILL_COUNT_FILE;
const journalLine = /^[0-9a-f]{8} (?:\{"journal"|\[\{"entry")/;

const probe = await open(new URL(import.meta.url), 'r');
const prototype = Object.getPrototypeOf(probe);
await probe.close();

const { appendFile } = prototype;
let writes = 0;
let isOver = false;

prototype.appendFile = async function appendOrDie(data, ...rest) {
  const line = Buffer.from(data).toString();
  if (!journalLine.test(line)) return appendFile.call(this, data, ...rest);
  writes += 1;
  if (isOver || (writes !== at && !recordsOf(line).includes(record))) {
    return appendFile.call(this, data, ...rest);
  }
  isOver = true;
  if (mode === 'torn') await appendFile.call(this, data.slice(0, Math.ceil(data.length / 2)));
  if (mode === 'after' || mode === 'stop') {
    await appendFile.call(this, data, ...rest);
    await this.datasync();
  }
  if (mode === 'stop') {
    writeSync(2, `stopped after ${record}\n`);
    process.kill(process.pid, 'SIGSTOP');
    return undefined;
  }
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};

function recordsOf(line) {
  const content = JSON.parse(line.slice(line.indexOf(' ')));
  if (!Array.isArray(content)) return ['journal'];
  return content.map(({ entry, batch, state }) =>
    state ? `${entry} ${batch} ${state.stage}` : entry,
  );
}

if (countFile !== undefined) {
  process.on('exit', () => {
    writeFileSync(countFile, String(writes));
  });
}

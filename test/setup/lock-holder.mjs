// Takes the locks of one worker, see lock-elsewhere.ts, and ends with it.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

const held = new Map();

process.on('disconnect', () => process.exit());
process.on('message', ({ id, path, isShared }) => {
  if (path === undefined) {
    closeSync(held.get(id));
    held.delete(id);
    process.send({ id });
    return;
  }
  const fd = openSync(path, 'a');
  const flock = spawn('flock', [isShared ? '-sn' : '-n', '3'], {
    stdio: ['ignore', 'ignore', 'inherit', fd],
  });
  flock.once('close', (code) => {
    if (code === 0) held.set(id, fd);
    else closeSync(fd);
    process.send({ id, code });
  });
});

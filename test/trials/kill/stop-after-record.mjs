// Loaded in front of the command (`node --import`): stops the process once the store has said that a stage is
// written down, before anything is done after it.
// STOP_AFTER: the stage, or `finished`; STOP_WITH: the signal.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

const stage = process.env.STOP_AFTER;
const signal = process.env.STOP_WITH;
const record = stage === 'finished' ? '"entry":"finished"' : `"stage":"${stage}"`;
let isOver = stage === undefined;

const { write } = Socket.prototype;

Socket.prototype.write = function writeOrStop(data, ...rest) {
  if (!isOver && Buffer.isBuffer(data) && data.includes(record)) {
    isOver = true;
    // Whoever listened before has its answer by then, and has done nothing with it.
    this.once('data', () => {
      writeSync(2, `stopped after ${stage}\n`);
      process.kill(process.pid, signal);
    });
  }
  return write.call(this, data, ...rest);
};

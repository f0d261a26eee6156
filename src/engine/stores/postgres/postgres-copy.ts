import { crc32 } from 'node:zlib';
import type { CopySteps } from '../shared/store-protocol.js';
import type { RunCalls } from './run-calls.js';
import type { StoreCalls } from './store-calls.js';

/** What a process asks of the copy of a run's source, as calls of the functions of a schema. */
export function createCopySteps(run: RunCalls, calls: StoreCalls): CopySteps {
  return {
    keep: async (token, part, bytes) =>
      run.holds(token, 'keep_copy', { part, checksum: crc32(bytes), bytes }),
    end: async (token, { parts, of }) => run.holds(token, 'end_copy', { parts, of }),
    whole: async () => calls.copied(run.run, run.life),
    async part(part) {
      const found = await calls.copyPart(run.run, part);
      return found && found.checksum === crc32(found.bytes) ? found.bytes : undefined;
    },
  };
}

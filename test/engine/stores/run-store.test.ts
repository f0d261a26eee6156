import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { systemFiles } from '../../../src/platform/files/file-system.js';
import { StateDirectory } from '../../../src/engine/stores/directory/state-directory.js';
import { withFolder } from '../../service/with-service.js';
import { describeRunStore } from './run-store-suite.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'run');
});

describeRunStore('A state directory', {
  open: async () => StateDirectory.open(systemFiles, path, { fresh: false }),
  async begin(store, run, plan) {
    await store.begin(run);
    await store.record(plan);
  },
});

import { systemClock } from '../../src/system/clock.js';
import { MemoryDatabase } from '../simulation/memory-database.js';
import { memoryStore } from '../simulation/memory-store.js';
import { describeSharedFeatures } from './shared-features-suite.js';

describeSharedFeatures('memory', () => {
  const database = new MemoryDatabase(() => systemClock.now());
  return () => memoryStore(database, 3000);
});

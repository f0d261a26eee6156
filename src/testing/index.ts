// Checks for your own sources and sinks (`sluice/testing`)
export type { Check } from './check.js';
export { sinkChecks, type SinkUnderTest } from './sink-checks.js';
export { sourceChecks, type SourceUnderTest } from './source-checks.js';

// Clocks for tests
export { createFastClock, createTestClock, type TestClock } from './test-clock.js';
export type { Clock } from '../platform/waiting/clock.js';

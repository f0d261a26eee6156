// Checks for one's own sources and sinks (`sluice/testing`)
export type { Check } from './check.js';
export { sinkChecks, type SinkUnderTest } from './sink-checks.js';
export { sourceChecks, type SourceUnderTest } from './source-checks.js';

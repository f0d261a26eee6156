// Checks for one's own sources and sinks (`sluice/conformance`)
export type { ConformanceCheck } from './conformance-check.js';
export { sinkChecks, type SinkUnderTest } from './sink-checks.js';
export { sourceChecks, type SourceUnderTest } from './source-checks.js';

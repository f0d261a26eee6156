/*
 * The conformance suite: any service, held to the specification (docs/reference/service-interface.md) clause by
 * clause. It knows nothing of `src/contract`, so that one misreading of it cannot pass twice.
 */

export {
  checkConformance,
  type ConformanceOptions,
  type ConformanceReport,
  conformanceLines,
  conformanceSums,
} from './check-conformance.js';

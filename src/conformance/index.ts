/*
 * The conformance suite: checks any service against the specification (docs/reference/service-interface.md),
 * clause by clause. Independent of `src/contract`, so that a misreading cannot pass twice.
 */

export {
  checkConformance,
  type ConformanceOptions,
  type ConformanceReport,
  conformanceLines,
  conformanceSums,
} from './check-conformance.js';
